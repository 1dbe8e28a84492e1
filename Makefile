# The few commands of this project; each does everything it needs, from a fresh machine on. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup configure build test demo bench format lint lint-tests docs mutants sanitize sanitize-all clean

JOBS ?= $(shell nproc)
# Options of CMake besides those of the preset, such as -DCMAKE_COMPILE_WARNING_AS_ERROR=ON.
export CONFIGURE ?=
PROGRAM := build/release/stein

# The data sets beside a checkout, where there are any.
ifneq ($(wildcard ../shared/data),)
  export STEIN_DATA ?= $(abspath ../shared/data)
endif

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## install packages and fetch pinned wheels into .deps/
	@scripts/setup

configure: setup
	@cmake --preset release -Wno-dev --log-level=WARNING $(CONFIGURE) > /dev/null

build: configure ## build the program, build/release/stein
	@cmake --build --preset release --parallel $(JOBS) --target stein stein_c

test: configure ## build and run every test; ends with what was skipped, and why
	@cmake --build --preset release --parallel $(JOBS)
	@scripts/test release --parallel $(JOBS)

demo: build ## Stein Thompson sampling against its baselines on mushrooms and on rewards of 0 and 1
	@scripts/demo

bench: build ## every benchmark: ours against the reference
	@$(PROGRAM) bench --all

format: setup ## format every source and header
	@scripts/format

lint: build ## formatting, clang-tidy, documentation of the public headers
	@scripts/lint

lint-tests: build ## clang-tidy over the tests (ten minutes)
	@scripts/tidy tests

docs: build ## docs/reference.md, and the reference of the public headers in build/docs/html
	@scripts/docs

mutants: build ## plant bugs in the code, one at a time, and see that the tests notice (an hour)
	@scripts/mutants

sanitize: setup ## the tests under the address and undefined-behaviour sanitizers (all but the slow ones)
	@scripts/sanitize --jobs $(JOBS) asan -- --label-exclude slow

sanitize-all: setup ## every test under ThreadSanitizer, and under the address and undefined-behaviour sanitizers (hours)
	@scripts/sanitize --jobs $(JOBS) tsan asan

clean: ## remove what was built (not .deps/)
	@rm -rf build
