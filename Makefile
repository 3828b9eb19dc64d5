# The commands of a day's work. `make run` and `make test` do all set-up themselves.
PRESET ?= release
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: help setup build test run check format install clean

help:
	@echo "make run      set up, build, then the crash-and-resume demo (examples/pipeline)"
	@echo "make test     set up, build, all tests"
	@echo "make check    layers, formatting, file sizes"
	@echo "make build    the binaries, in build/$(PRESET)"
	@echo "make install  PREFIX=$(PREFIX)"
	@echo "PRESET=dev|asan|tsan selects another build"

setup:
	@tools/setup

build/$(PRESET)/build.ninja: CMakePresets.json CMakeLists.txt | setup
	@cmake --preset $(PRESET) > /dev/null

build: setup build/$(PRESET)/build.ninja
	@cmake --build --preset $(PRESET) -j $(JOBS)

test: build
	@tools/run_tests build/$(PRESET)

run: build
	@.venv/bin/python examples/pipeline/run_demo.py --sheaf build/$(PRESET)/bin/sheaf

check: setup
	@tools/check

format:
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

install: build
	@cmake --install build/$(PRESET) --prefix $(PREFIX)

clean:
	@rm -rf build
