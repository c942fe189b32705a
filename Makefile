# The front. CMake with presets (CMakePresets.json) stands behind it; `make help` lists the goals.
.DEFAULT_GOAL := all
MAKEFLAGS += --no-print-directory

# Configures a preset once, then builds what is named.
define build
	@test -f build/$(1)/build.ninja || cmake --preset $(1) -Wno-dev >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
	@cmake --build build/$(1) --target $(2) -- --quiet
endef

.PHONY: all run test bench bench-tokens fuzz format lint install clean help dev

all: ## build the program: build/caisson
	@scripts/bootstrap build
	@mkdir -p build
	@echo "==> building caisson"
	$(call build,release,caisson)
	@ln -sfn release/caisson build/caisson
	@echo "    build/caisson is ready"

run: all ## build it, run a first program, and start the daemon with a small demo server
	@scripts/first-run build/caisson

test: all ## run all tests; ends with "N passed, N failed"
	@scripts/bootstrap test
	@scripts/test

bench: all ## measure, beside deno and bun, in the same run
	@scripts/bootstrap bench
	$(call build,bench,all)
	@tests/bench/run

bench-tokens: all ## count what a model reads: every definition of 20 servers, or one task done
	@scripts/bootstrap test
	@tests/bench/tokens

fuzz: ## fuzz every parser of foreign bytes, a minute each (FUZZ_SECONDS=60)
	@scripts/bootstrap test
	@mkdir -p build
	$(call build,fuzz,all)
	@scripts/fuzz

dev: ## build with ASan and UBSan: build/dev/caisson
	@scripts/bootstrap test
	@mkdir -p build
	$(call build,dev,all)

format: ## lay out the source
	@scripts/bootstrap test
	@git ls-files '*.c' '*.h' | xargs clang-format -i

lint: dev ## check layout, names, includes, banned calls, sizes
	@scripts/lint

install: all ## install program, man page and completion (PREFIX=/usr/local)
	@scripts/install build/caisson "$(DESTDIR)$(or $(PREFIX),/usr/local)"

clean: ## remove what was built
	rm -rf build

help: ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14
