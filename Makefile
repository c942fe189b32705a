# The front. CMake with presets (CMakePresets.json) is behind it; `make help` lists the goals.
.DEFAULT_GOAL := all

PRESET ?= release
CONFIGURE = test -f build/$(1)/build.ninja || cmake --preset $(1) -Wno-dev >/dev/null
BUILD = $(call CONFIGURE,$(1)) && cmake --build build/$(1) -- --quiet

all:
	@scripts/bootstrap build
	@echo "==> building caisson (release)"
	@$(call BUILD,release)
	@ln -sf release/caisson build/caisson
	@echo "    build/caisson"
.PHONY: all
