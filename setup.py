"""What pyproject.toml can't say: assets/ stays at the top of the repository and is installed inside the package."""

from setuptools import find_namespace_packages, setup

ASSETS = "playground._assets"

setup(
    packages=[
        *find_namespace_packages(include=["playground", "playground.*"]),
        ASSETS,
        *(f"{ASSETS}.{folder}" for folder in find_namespace_packages("assets")),
    ],
    package_dir={ASSETS: "assets"},
    package_data={"": ["*"], ASSETS: ["**/*"]},
    exclude_package_data={ASSETS: ["*.png"]},  # the README's picture
)
