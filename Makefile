# Build, test and install gemmview. `make help` lists what can be asked for.
#
# Sources are found by name: every src/**/*.c is part of the program, every tests/unit/test_NAME.c
# brings suite_NAME, every tests/fuzz/fuzz_NAME.c is a fuzz target, every file below data/ is
# embedded. Each configuration keeps its objects in a folder of its own, together with the flags
# they were built with, so changing CC or CFLAGS rebuilds and switching configurations does not.

CC      ?= cc
ifeq ($(origin CC),default)
CC      := gcc
endif
FUZZ_CC ?= clang
PREFIX  ?= /usr/local
CFLAGS  ?= -O2 -g
WERROR  ?= -Werror
FUZZ_SECONDS ?= 60
SUITES  ?=
ARGS    ?=

ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DEFAULT_GOAL := build/gemmview

# $(call pkg,what,package,fallback)
pkg = $(shell pkg-config $(1) $(2) 2>/dev/null || echo '$(3)')

WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes $(WERROR)
COMMON   = -std=c17 -D_GNU_SOURCE -Isrc $(WARNINGS) -MMD -MP
INCLUDES := $(call pkg,--cflags,ncursesw libcjson sqlite3,)
LIBS     = $(call pkg,--libs,ncursesw,-lncursesw -ltinfo) $(call pkg,--libs,libcjson,-lcjson) \
           $(call pkg,--libs,sqlite3,-lsqlite3) -lpthread -ldl -lm
TEST_INCLUDES := -Itests/unit -Ibuild/gen $(call pkg,--cflags,check vterm,)
# The tests make the n-th allocation of our own code fail.
TEST_WRAPS    = -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
TEST_LIBS     = $(call pkg,--libs,check,-lcheck -lsubunit -lrt) $(call pkg,--libs,vterm,-lvterm)

# The null checks that UBSan adds make gcc believe that formats may be NULL.
SANITIZE_WARNINGS = -Wno-unknown-warning-option -Wno-format-truncation -Wno-format-overflow
# What ASan asks of every access, UBSan need not ask of every pointer: a third of the time. The fuzz
# targets are built with all of it.
SANITIZE  = -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
            -fno-sanitize=null,alignment,object-size,pointer-overflow \
            $(SANITIZE_WARNINGS)
FUZZFLAGS = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

SOURCES      := $(sort $(shell find src -name '*.c'))
LIB_SOURCES  := $(filter-out src/main.c,$(SOURCES)) gen/embed_data.c
TEST_SOURCES := $(sort $(wildcard tests/unit/*.c))
FUZZ_NAMES   := $(sort $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c)))
SUITE_NAMES  := $(sort $(patsubst tests/unit/test_%.c,%,$(wildcard tests/unit/test_*.c)))
DATA_FILES   := $(sort $(shell find data -type f 2>/dev/null))

objects = $(patsubst %.c,build/$(1)/%.o,$(2))
RELEASE_OBJECTS = $(call objects,release,src/main.c $(LIB_SOURCES))
ASAN_OBJECTS    = $(call objects,asan,$(LIB_SOURCES) $(TEST_SOURCES))
FUZZ_OBJECTS    = $(call objects,fuzz,$(LIB_SOURCES))

.PHONY: all help run test stress compile-all test-build test-run test-gpu accept check-deps fmt fmt-check screenshots \
        portable install uninstall fuzz clean FORCE
all: build/gemmview

help:
	@echo 'make              build/gemmview'
	@echo 'make run          install what is missing, build, launch (ARGS="show explore")'
	@echo 'make test         install what is missing, build and run the tests (SUITES="json target")'
	@echo 'make stress       what make test samples, whole: hours (STRESS=0.1 SUITES="history")'
	@echo 'make compile-all  200 random legal schedules for every target, compiled by NVRTC'
	@echo 'make test-gpu     compile, verify and time on the GPU at hand'
	@echo 'make accept       rewrite the golden files; review the diff'
	@echo 'make check-deps   who may include whom, and what the pure folders may call'
	@echo 'make fmt          clang-format every source; fmt-check only looks'
	@echo 'make screenshots  redraw screenshots/'
	@echo 'make portable     build/portable, which runs on x86-64 Linux with glibc 2.34 or newer'
	@echo 'make install      PREFIX=$(PREFIX), DESTDIR; make uninstall takes it away again'
	@echo 'make fuzz         every fuzz target, FUZZ_SECONDS=$(FUZZ_SECONDS) each'
	@echo 'make clean        remove build/'

# make V=1 shows the commands themselves.
ifeq ($(V),1)
run_quietly = $(2)
else
run_quietly = @echo '  $(1)'; $(2)
endif

# --- objects ------------------------------------------------------------------------------------

# A file that changes only when its text does: what depends on it is rebuilt only then.
define write_if_changed
	@mkdir -p $(@D)
	@printf '%s\n' $(1) > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
endef

build/release/flags: FORCE
	$(call write_if_changed,'$(CC) $(COMMON) $(INCLUDES) $(CFLAGS)')
build/asan/flags: FORCE
	$(call write_if_changed,'$(CC) $(COMMON) $(INCLUDES) $(TEST_INCLUDES) $(SANITIZE)')
build/fuzz/flags: FORCE
	$(call write_if_changed,'$(FUZZ_CC) $(COMMON) $(INCLUDES) $(FUZZFLAGS)')

build/release/%.o: %.c build/release/flags
	@mkdir -p $(@D)
	$(call run_quietly,CC $@,$(CC) $(COMMON) $(INCLUDES) $(CFLAGS) -c $< -o $@)
build/release/gen/%.o: build/gen/%.c build/release/flags
	@mkdir -p $(@D)
	$(call run_quietly,CC $@,$(CC) $(COMMON) $(INCLUDES) $(CFLAGS) -c $< -o $@)
build/asan/%.o: %.c build/asan/flags
	@mkdir -p $(@D)
	$(call run_quietly,CC $@,$(CC) $(COMMON) $(INCLUDES) $(TEST_INCLUDES) $(SANITIZE) $(HOT) $(QUICK) -c $< -o $@)
build/asan/tests/%.o: QUICK = -include tests/unit/quick_check.h
# The interpreter runs billions of lane operations in the property test: a quarter off at -O2.
build/asan/src/model/interp/%.o: HOT = -O2
build/asan/src/model/words/formats.o: HOT = -O2
build/asan/src/model/ir/expr.o: HOT = -O2
# So does the machine that runs PTX.
build/asan/src/ptx/%.o: HOT = -O2
build/asan/gen/%.o: build/gen/%.c build/asan/flags
	@mkdir -p $(@D)
	$(call run_quietly,CC $@,$(CC) $(COMMON) $(INCLUDES) $(SANITIZE) -c $< -o $@)
build/fuzz/%.o: %.c build/fuzz/flags
	@mkdir -p $(@D)
	$(call run_quietly,CC $@,$(FUZZ_CC) $(COMMON) $(INCLUDES) $(FUZZFLAGS) -c $< -o $@)
build/fuzz/gen/%.o: build/gen/%.c build/fuzz/flags
	@mkdir -p $(@D)
	$(call run_quietly,CC $@,$(FUZZ_CC) $(COMMON) $(INCLUDES) $(FUZZFLAGS) -c $< -o $@)

build/gen/data_files: FORCE
	$(call write_if_changed,$(DATA_FILES))
build/gen/embed_data.c: build/gen/data_files tools/embed.sh $(DATA_FILES)
	tools/embed.sh $(DATA_FILES) > $@.new && mv $@.new $@
build/gen/suites.def: FORCE
	$(call write_if_changed,$(patsubst %,'SUITE(%)',$(SUITE_NAMES)))
build/asan/tests/unit/main.o: build/gen/suites.def

# --- the program --------------------------------------------------------------------------------

build/gemmview: $(RELEASE_OBJECTS)
	$(call run_quietly,LD $@,$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@)

run:
	@tools/install_deps.sh run
	@$(MAKE) --no-print-directory build/gemmview
	@exec build/gemmview $(ARGS)

# --- tests --------------------------------------------------------------------------------------

build/asan/unit: $(ASAN_OBJECTS)
	$(call run_quietly,LD $@,$(CC) $(SANITIZE) $(LDFLAGS) $(TEST_WRAPS) $^ $(LIBS) $(TEST_LIBS) -o $@)
# The tests of the command line and of the worker run the program itself, under the sanitizers too.
build/asan/gemmview: $(call objects,asan,src/main.c $(LIB_SOURCES))
	$(call run_quietly,LD $@,$(CC) $(SANITIZE) $(LDFLAGS) $^ $(LIBS) -o $@)

test-build: build/asan/unit build/asan/gemmview

test-run: test-build
	GEMMVIEW=build/asan/gemmview build/asan/unit $(SUITES)

test:
	@tools/install_deps.sh test
	@$(MAKE) --no-print-directory test-run

# Every promise with its whole number; STRESS=0.1 is a tenth of it, SUITES="history" one suite.
STRESS ?= 1
STRESS_SUITES = counted export_cu promises injection view ways_out client history history_hostile protocol knob json \
                hostile mutants terminal compile_all parse
stress: test-build build/gemmview
	GEMMVIEW_STRESS=$(STRESS) GEMMVIEW=build/asan/gemmview build/asan/unit $(or $(SUITES),$(STRESS_SUITES))
	@$(if $(SUITES),:,tests/stress/frames.sh build/gemmview)
	@$(if $(SUITES),:,tests/stress/valgrind.sh build/gemmview $(STRESS))

# Random legal schedules through NVRTC, 200 for each target; no GPU is needed.
compile-all: test-build
	GEMMVIEW_STRESS=1 build/asan/unit compile_all

accept: test-build
	GEMMVIEW_ACCEPT=1 GEMMVIEW=build/asan/gemmview build/asan/unit $(SUITES)
	git status --short -- tests

test-gpu: build/gemmview
	GEMMVIEW=build/gemmview tests/gpu/run.sh

check-deps: $(filter build/release/src/banks/% build/release/src/model/% build/release/src/ptx/%,$(RELEASE_OBJECTS))
	@tools/check_deps.sh $^

# --- fuzzing ------------------------------------------------------------------------------------

build/fuzz/fuzz_%: build/fuzz/tests/fuzz/fuzz_%.o $(FUZZ_OBJECTS)
	$(call run_quietly,LD $@,$(FUZZ_CC) $(FUZZFLAGS) -fsanitize=fuzzer $^ $(LIBS) -o $@)

.PHONY: $(FUZZ_NAMES:%=fuzz-run-%)
$(FUZZ_NAMES:%=fuzz-run-%): fuzz-run-%: build/fuzz/fuzz_%
	@tools/fuzz.sh $* $(FUZZ_SECONDS)

fuzz: $(FUZZ_NAMES:%=fuzz-run-%)
	@echo 'fuzz: $(words $(FUZZ_NAMES)) targets, $(FUZZ_SECONDS) s each, nothing found'

# --- everything else ----------------------------------------------------------------------------

FORMATTED = $(shell find src tests -name '*.[ch]' -o -name '*.def' | grep -v '^src/.*\.def$$')
fmt:
	clang-format -i $(FORMATTED)
fmt-check:
	clang-format --dry-run -Werror $(FORMATTED)

screenshots: build/gemmview
	tools/screenshots.sh build/gemmview screenshots

portable: $(RELEASE_OBJECTS)
	@CC='$(CC)' CFLAGS='$(CFLAGS)' tools/portable.sh build/portable $^

install: build/gemmview
	@tools/install.sh '$(DESTDIR)$(PREFIX)' install
uninstall:
	@tools/install.sh '$(DESTDIR)$(PREFIX)' uninstall

clean:
	rm -rf build

.SECONDARY:
-include $(shell find build -name '*.d' 2>/dev/null)
