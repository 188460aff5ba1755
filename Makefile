# One line for each thing a person does here. `make run` and `make test` prepare what they need.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: run test scripts bench soak train clean

run: .venv/page
	$(BIN)/python app.py $(FLAGS)

test: .venv/test scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -n 2 --dist loadfile $(FLAGS)

# The browser's half: formatted, linted, and its types checked.
scripts: node_modules/.installed
	npx --no-install biome check
	npx --no-install tsc

bench: .venv/test
	$(BIN)/python -m benchmarks $(FLAGS)

# Ten minutes of a hundred students at one server.
soak: .venv/test
	$(BIN)/python -m benchmarks.class_load

train: .venv/page
	$(BIN)/pip install --quiet -r training/requirements.txt
	$(BIN)/python -m training $(FLAGS)

.venv/page: requirements.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -r requirements.txt
	touch $@

.venv/test: .venv/page pyproject.toml
	$(BIN)/pip install --quiet --group test
	touch $@

node_modules/.installed: package.json package-lock.json
	npm ci --silent --no-audit --no-fund
	touch $@

clean:
	rm -rf .venv node_modules .pytest_cache .ruff_cache build *.egg-info
