# The thin front. `make demo` and `make test` are all a newcomer needs; `make help` lists the rest.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
# Many tests wait for clocks and children: one more than the cores keeps these busy (8 minutes instead of 11).
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
BUILD := build/release
DOSSIER := $(BUILD)/bin/dossier

.PHONY: help setup build demo demo-suite test acceptance bench install uninstall package wheel asan tsan tidy fuzz clean

help:
	@echo 'make demo         install what is missing, build, fetch the embedded model, answer a question'
	@echo 'make test         build and run every test'
	@echo 'make demo-suite   20 questions over five sources, three seeds each (about 40 minutes)'
	@echo 'make build        build $(DOSSIER)'
	@echo 'make bench        ratios against other tools, in one run'
	@echo 'make install      PREFIX=$(PREFIX): the command, the C++ library and its headers; make uninstall'
	@echo 'make package      dist/: a Debian package, a relocatable tarball and two Python wheels'
	@echo 'make wheel        the wheels alone: the Python package with the command, and without'
	@echo 'make asan tsan    the tests under sanitizers'
	@echo 'make tidy fuzz    clang-tidy over every file; 60 seconds a fuzz target'

setup:
	@scripts/setup

build: setup
	@cmake --preset release >$(CURDIR)/.cmake.log 2>&1 || { cat .cmake.log; exit 1; }; rm -f .cmake.log
	@cmake --build --preset release -j $(JOBS) --target dossier workers

demo: build
	@scripts/demo $(DOSSIER)

demo-suite: build
	@$(DOSSIER) models pull
	@/usr/bin/python3 tests/suite/run.py --dossier $(DOSSIER)

test:
	@scripts/setup --test
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS)
	@ctest --test-dir $(BUILD) --output-on-failure -j $(TEST_JOBS)

bench: build
	@cmake --build --preset release -j $(JOBS) --target dossier_bench
	@bench/run

install: build
	@cmake --build --preset release -j $(JOBS) --target library installed_texts
	@scripts/install $(BUILD) $(abspath $(PREFIX))

uninstall:
	@scripts/uninstall $(abspath $(PREFIX))

package: build
	@cmake --build --preset release -j $(JOBS) --target installed_texts
	@scripts/package --build $(BUILD) --out dist

wheel: build
	@cmake --build --preset release -j $(JOBS) --target installed_texts
	@scripts/package --build $(BUILD) --out dist wheel pure

asan tsan:
	@scripts/setup --test --develop
	@cmake --preset $@ >/dev/null && cmake --build --preset $@ -j $(JOBS)
	@ctest --test-dir build/$@ --output-on-failure -j $(JOBS)

tidy:
	@scripts/setup --test --develop
	@scripts/tidy $(JOBS)

fuzz:
	@scripts/setup --test --develop
	@cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j $(JOBS)
	@scripts/fuzz-all build/fuzz

clean:
	@rm -rf build
