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
# What a second compiler says of the program it says without optimizing, too.
CLANG   ?= clang
CLANG_FLAGS = -O0
# The compiler of what make test runs.
TEST_CC ?= $(CC)
PREFIX  ?= /usr/local
CFLAGS  ?= -O2 -g
WERROR  ?= -Werror
FUZZ_SECONDS ?= 60
# make cross builds for this machine, with libraries that lie in build/sysroot-$(ARCH).
ARCH    ?= aarch64
CROSS_CC    ?= $(ARCH)-linux-gnu-gcc --sysroot=$(CURDIR)/build/sysroot-$(ARCH)
CROSS_FLAGS = $(TEST_INCLUDES) $(CFLAGS)
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
# targets are built with all of it. make asan leaves the two interpreters and the clock unguarded (HOT
# below), which run billions of lane operations: half of the time that is left; make sanitized guards
# them, too.
# A program that is not moved about in memory, with the sanitizers in it where gcc can, starts in two
# thirds of the time: the tests start it some thousand times.
SANITIZE  = -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
            -fno-sanitize=null,alignment,object-size,pointer-overflow \
            -fno-pie $(SANITIZE_WARNINGS)
# Whether an index of a table is inside it is UBSan's to ask; make sanitized has ASan ask it, too, for
# some milliseconds at each start.
TABLES_UNASKED := $(shell $(CC) --param asan-globals=0 -E -x c /dev/null >/dev/null 2>&1 && \
                   echo --param asan-globals=0)
STATIC_ASAN = $(shell $(CC) -static-libasan -E -x c /dev/null >/dev/null 2>&1 && \
                $(CC) -print-file-name=libasan.a | grep -q / && echo -static-libasan -static-libubsan)
ASAN_LINK = -no-pie $(STATIC_ASAN)
ASAN_FLAGS = $(TEST_INCLUDES) $(SANITIZE) $(TABLES_UNASKED)
WHOLE_FLAGS = $(TEST_INCLUDES) $(SANITIZE) -DSANITIZED_WHOLE
# What make test runs has no sanitizers in it. The driver of `gemmview record` is made of the same objects, so that no
# source is compiled twice.
IN_A_LIBRARY = -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections
PLAIN_FLAGS = $(TEST_INCLUDES) -O1 $(IN_A_LIBRARY)
TSAN_FLAGS = $(TEST_INCLUDES) -O1 -g1 -fsanitize=thread -fno-omit-frame-pointer $(SANITIZE_WARNINGS)
FUZZFLAGS = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

# The library that stands in front of a recorded program is made of files of its own and of pure ones.
DRIVER_SOURCES := $(sort $(wildcard src/driver/*.c))
SOURCES      := $(filter-out $(DRIVER_SOURCES),$(sort $(shell find src -name '*.c')))
LIB_SOURCES  := $(filter-out src/main.c,$(SOURCES)) gen/embed_data.c
TEST_SOURCES := $(sort $(wildcard tests/unit/*.c))
FUZZ_NAMES   := $(sort $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c)))
SUITE_NAMES  := $(sort $(patsubst tests/unit/test_%.c,%,$(wildcard tests/unit/test_*.c)))
DATA_FILES   := $(sort $(shell find data lab -type f 2>/dev/null))

objects = $(patsubst %.c,build/$(1)/%.o,$(2))
RELEASE_OBJECTS = $(call objects,release,src/main.c $(LIB_SOURCES))
FUZZ_OBJECTS    = $(call objects,fuzz,$(LIB_SOURCES))

.PHONY: all help run test asan sanitized stress compile-all test-build test-run test-gpu accept check-deps fmt fmt-check screenshots docs words \
        tsan portable wheel deb cross cross-test install uninstall fuzz ci-long clean mutate
all: build/gemmview

help:
	@echo 'make              build/gemmview'
	@echo 'make run          install what is missing, build, launch (ARGS="show explore")'
	@echo 'make test         install what is missing, build and run the tests (SUITES="json target")'
	@echo 'make stress       what make test samples, whole: hours (STRESS=0.1 SUITES="history")'
	@echo 'make asan         make test under ASan and UBSan, interpreters and clock unguarded'
	@echo 'make sanitized    … and those under them, too: twice as long'
	@echo 'make tsan         client, worker and classroom tests under ThreadSanitizer'
	@echo 'make compile-all  200 random legal schedules for every target, compiled by NVRTC'
	@echo 'make test-gpu     compile, verify and time on the GPU at hand'
	@echo 'make accept       rewrite the golden files; review the diff'
	@echo 'make mutate       N=300 SEED=1: one-token mutants, and whether the nearest suites see them'
	@echo 'make compile_commands.json  for clangd'
	@echo 'make check-deps   who may include whom, and what the pure folders may call'
	@echo 'make fmt          clang-format every source; fmt-check only looks'
	@echo 'make screenshots  redraw screenshots/'
	@echo 'make docs         docs/commands.md and docs/glossary.md, from the tables of the program'
	@echo 'make words        every string that a user sees; 1 when one is not plain'
	@echo 'make portable     build/portable, which runs on x86-64 Linux with glibc 2.34 or newer'
	@echo 'make wheel        build/dist/*.whl, the portable folder for pip, pipx and uv'
	@echo 'make deb          build/dist/*.deb, for the Debian or Ubuntu it is made on'
	@echo 'make cross        ARCH=$(ARCH): program, tests, portable folder and wheel; cross-test runs the tests'
	@echo 'make install      PREFIX=$(PREFIX), DESTDIR; make uninstall takes it away again'
	@echo 'make fuzz         every fuzz target, FUZZ_SECONDS=$(FUZZ_SECONDS) each'
	@echo 'make ci-long      .ci/run with TSan, fuzzing, cross-test and packages in clean roots (root)'
	@echo 'make clean        remove build/'

# make V=1 shows the commands themselves.
ifeq ($(V),1)
run_quietly = $(2)
else
run_quietly = @echo '  $(1)'; $(2)
endif

# --- objects ------------------------------------------------------------------------------------

# $(call text_file,FILE,NAME): FILE holds the words of the variable NAME. make compares before it asks a rule, so
# that a file whose text is right is up to date, and make -n tells what make would do.
define text_file
ifneq ($$(strip $$(file < $(1))),$$(strip $$($(2))))
.PHONY: $(1)
endif
$(1):
	@mkdir -p $$(@D)
	@printf '%s\n' $$(foreach word,$$($(2)),'$$(word)') | paste -sd ' ' > $$@
endef

# $(call configuration,NAME,COMPILER,FLAGS): how the objects in build/NAME are made; COMPILER and FLAGS
# are names of variables.
define configuration
$(1)_COMPILE = $$($(2)) $$(COMMON) $$(INCLUDES) $$($(3))
$$(eval $$(call text_file,build/$(1)/flags,$(1)_COMPILE))
build/$(1)/%.o: %.c build/$(1)/flags
	@mkdir -p $$(@D)
	$$(call run_quietly,CC $$@,$$($(1)_COMPILE) $$(HOT) $$(QUICK) $$(EMBED) -c $$< -o $$@)
build/$(1)/gen/%.o: build/gen/%.c build/$(1)/flags
	@mkdir -p $$(@D)
	$$(call run_quietly,CC $$@,$$($(1)_COMPILE) -c $$< -o $$@)
build/$(1)/tests/unit/%.o: private QUICK = -O0 -include tests/unit/quick_check.h
$$(call objects,$(1),$$(STAND_INS)): private QUICK = -O2 -include tests/unit/quick_check.h
build/$(1)/tests/unit/main.o: build/gen/suites.def
endef
# A test's own text is compiled fast; what stands in for a GPU has to multiply.
STAND_INS := $(patsubst %,tests/unit/%.c,fake_cuda fake_cublas numbers open_case ptx_plan test_trace_run test_tagged)
$(eval $(call configuration,release,CC,CFLAGS))
$(eval $(call configuration,clang,CLANG,CLANG_FLAGS))
$(eval $(call configuration,plain,TEST_CC,PLAIN_FLAGS))
$(eval $(call configuration,asan,CC,ASAN_FLAGS))
$(eval $(call configuration,whole,CC,WHOLE_FLAGS))
$(eval $(call configuration,tsan,CC,TSAN_FLAGS))
$(eval $(call configuration,fuzz,FUZZ_CC,FUZZFLAGS))
$(eval $(call configuration,$(ARCH),CROSS_CC,CROSS_FLAGS))
# The interpreter, the machine that runs PTX, the clock that plays machine code, sums of what capsules hold, and the worker
# that makes up its times.
HOT_SOURCES := $(wildcard src/order/*.c src/clock/*.c src/sass/sass_run*.c $(addprefix src/banks/engine/,bank.c bank_copy.c sector.c) src/model/interp/*.c src/model/ops/*.c src/ptx/run/*.c src/ptx/tensor/*.c src/ptx/module/multiply.c src/ptx/record/*.c src/capsule/capsule_crc.c) \
               src/model/words/dtype.c src/model/words/formats.c src/model/words/fragment.c \
               src/model/ir/expr.c src/model/ir/expr_eval.c src/model/ir/warp_walk.c src/model/ir/lanes.c src/kernels/worker/worker_fake.c
# What a test runs once is compiled in half of the time: commands, tools, devices, screens. private: one of them has the
# library of a driver inside, and else each object of that library would be compiled in the same way.
ONCE_SOURCES := $(filter-out src/tui/canvas/% $(HOT_SOURCES),$(filter src/cli/% src/kernels/% src/tui/%,$(SOURCES)))
$(call objects,asan,$(ONCE_SOURCES)) $(call objects,plain,$(ONCE_SOURCES)): private QUICK = -O0
NATIVE := $(shell $(CC) -march=native -E -x c /dev/null >/dev/null 2>&1 && echo -march=native -ffp-contract=off)
$(call objects,asan,$(HOT_SOURCES) $(STAND_INS)): HOT = -O3 $(NATIVE) -fomit-frame-pointer -fno-sanitize=all
$(call objects,plain,$(HOT_SOURCES) $(STAND_INS)): HOT = -O3 $(NATIVE)
$(call objects,whole,$(HOT_SOURCES)): HOT = -O3
# Nothing for another machine is compiled before that machine's libraries are here.
build/$(ARCH)/flags: | build/sysroot-$(ARCH)

# --- the driver of `gemmview record` ------------------------------------------------------------------

# It is loaded by other people's programs, so nothing of it is seen but a driver's own symbols; the
# program has its bytes inside and writes them where a recorded program finds them.
DRIVER_PARTS = $(filter src/base/% src/banks/% src/capsule/% src/order/% src/ptx/% src/model/words/% src/model/ir/% \
  src/machine/% src/sass/% src/kernels/toolchain/tool.c src/kernels/toolchain/tool_keeper.c \
  src/kernels/toolchain/dl.c src/kernels/toolchain/machine/sass.c \
  src/kernels/toolchain/machine/code_module.c,$(SOURCES))
$(eval $(call text_file,build/gen/driver_parts,DRIVER_PARTS))
DRIVER_FLAGS = $(CFLAGS) $(IN_A_LIBRARY)
driver_CC = $(CC)
plain_CC = $(TEST_CC)
driver-$(ARCH)_CC = $(CROSS_CC)
$(eval $(call configuration,driver,driver_CC,DRIVER_FLAGS))
$(eval $(call configuration,driver-$(ARCH),driver-$(ARCH)_CC,DRIVER_FLAGS))
# $(call driver,NAME,LIST): the library, of the objects of a configuration, and which configurations have it inside.
define driver
build/$(1)/parts.a: $(call objects,$(1),$(DRIVER_PARTS)) build/gen/driver_parts
	@rm -f $$@
	$$(call run_quietly,AR $$@,ar rcs $$@ $$(filter %.o,$$^))
build/$(1)/libcuda.so.1: $(call objects,$(1),$(DRIVER_SOURCES)) build/$(1)/parts.a
	$$(call run_quietly,LD $$@,$$($(1)_CC) $(CFLAGS) -shared -Wl$$(comma)-soname$$(comma)libcuda.so.1 \
	  -Wl$$(comma)-z$$(comma)defs -Wl$$(comma)--gc-sections -Wl$$(comma)-s $$^ -ldl -lpthread -lm -o $$@)
$(patsubst %,build/%/src/cli/record/driver_bytes.o,$(2)): build/$(1)/libcuda.so.1
$(patsubst %,build/%/src/cli/record/driver_bytes.o,$(2)): private EMBED = '-DGEMMVIEW_DRIVER="build/$(1)/libcuda.so.1"'
endef
comma := ,
$(eval $(call driver,driver,release tsan fuzz))
$(eval $(call driver,plain,plain asan whole clang))
$(eval $(call driver,driver-$(ARCH),$(ARCH)))
build/driver-$(ARCH)/flags: | build/sysroot-$(ARCH)

$(eval $(call text_file,build/gen/data_files,DATA_FILES))
build/gen/embed_data.c: build/gen/data_files tools/embed.sh $(DATA_FILES)
	tools/embed.sh $(DATA_FILES) > $@.new && mv $@.new $@
SUITE_ROWS = $(patsubst %,SUITE(%),$(SUITE_NAMES))
$(eval $(call text_file,build/gen/suites.def,SUITE_ROWS))

# --- the program --------------------------------------------------------------------------------

build/gemmview: $(RELEASE_OBJECTS)
	$(call run_quietly,LD $@,$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@)
build/clang/gemmview: $(call objects,clang,src/main.c $(LIB_SOURCES))
	$(call run_quietly,LD $@,$(CLANG) $(CLANG_FLAGS) $(LDFLAGS) $^ $(LIBS) -o $@)

run:
	@tools/install_deps.sh run
	@$(MAKE) --no-print-directory build/gemmview
	@exec build/gemmview $(ARGS)

# --- tests --------------------------------------------------------------------------------------

# $(call test_programs,NAME,COMPILER,FLAGS,LINK): the tests of one configuration, and the program that the
# tests of the command line and of the worker run, made in the same way.
define test_programs
build/$(1)/unit: $(call objects,$(1),$(LIB_SOURCES) $(TEST_SOURCES))
	$$(call run_quietly,LD $$@,$$($(2)) $$($(3)) $$($(4)) $$(LDFLAGS) $$(TEST_WRAPS) $$^ $$(LIBS) $$(TEST_LIBS) -o $$@)
build/$(1)/gemmview: $(call objects,$(1),src/main.c $(LIB_SOURCES))
	$$(call run_quietly,LD $$@,$$($(2)) $$($(3)) $$($(4)) $$(LDFLAGS) $$^ $$(LIBS) -o $$@)
endef
$(eval $(call test_programs,plain,TEST_CC,PLAIN_FLAGS))
$(eval $(call test_programs,asan,CC,ASAN_FLAGS,ASAN_LINK))
$(eval $(call test_programs,whole,CC,WHOLE_FLAGS,ASAN_LINK))
$(eval $(call test_programs,tsan,CC,TSAN_FLAGS))
$(eval $(call test_programs,$(ARCH),CROSS_CC,CROSS_FLAGS))

# plain, or with sanitizers: asan, whole, tsan.
TEST_BUILD ?= plain
test-build: build/$(TEST_BUILD)/unit build/$(TEST_BUILD)/gemmview

test-run: test-build
	GEMMVIEW=build/$(TEST_BUILD)/gemmview build/$(TEST_BUILD)/unit $(SUITES)

test:
	@tools/install_deps.sh test
	@$(MAKE) --no-print-directory test-run

# The same under ASan and UBSan, but for the two interpreters and the clock.
asan:
	@$(MAKE) --no-print-directory test TEST_BUILD=asan

# With those under the sanitizers, too.
sanitized:
	@$(MAKE) --no-print-directory test TEST_BUILD=whole

# Every promise with its whole number; STRESS=0.1 is a tenth of it, SUITES="history" one suite.
STRESS ?= 1
STRESS_SUITES = conventions emit_run emit_compile stamp counted export_cu persistent promises injection view ways_out client history history_hostile protocol knob json \
                hostile mutants machine_mutants terminal compile_all parse property why_mutants
stress: build/asan/unit build/asan/gemmview build/gemmview
	GEMMVIEW_STRESS=$(STRESS) GEMMVIEW=build/asan/gemmview build/asan/unit $(or $(SUITES),$(STRESS_SUITES))
	@$(if $(SUITES),:,tests/stress/frames.sh build/gemmview)
	@$(if $(SUITES),:,tests/stress/valgrind.sh build/gemmview $(STRESS))

# Random legal schedules through NVRTC, 200 for each target; no GPU is needed.
compile-all: test-build
	GEMMVIEW_STRESS=1 build/$(TEST_BUILD)/unit compile_all

# What make test leaves to CI has golden files, too.
accept: test-build
	GEMMVIEW_STRESS=0.0001 GEMMVIEW_ACCEPT=1 GEMMVIEW=build/$(TEST_BUILD)/gemmview build/$(TEST_BUILD)/unit $(SUITES)
	git status --short -- tests

# The suites that have threads, under ThreadSanitizer.
TSAN_SUITES = team tune client client_history worker classroom classroom_hostile pipeline_trial claims
tsan: build/tsan/unit build/tsan/gemmview
	TSAN_OPTIONS="halt_on_error=1 $$TSAN_OPTIONS" GEMMVIEW=build/tsan/gemmview build/tsan/unit $(or $(SUITES),$(TSAN_SUITES))

test-gpu: build/gemmview
	GEMMVIEW=build/gemmview tests/gpu/run.sh

PURE = $(foreach folder,banks capsule sass clock order model ptx machine,src/$(folder)/% $(patsubst %,%/$(folder)/%,$(wildcard src/features/*)))
CHECKED ?= release
check-deps: $(call objects,$(CHECKED),$(filter $(PURE),$(SOURCES)))
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
CLANG_FORMAT ?= $(shell command -v clang-format-14 || echo clang-format)
fmt:
	@$(CLANG_FORMAT) -i $(FORMATTED)
fmt-check:
	@$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)

# What clangd and other readers of the program ask for: each source with the line that compiles it.
compile_commands.json: build/release/flags $(SOURCES)
	@for file in $(SOURCES); do printf '%s\n' "{\"directory\": \"$(CURDIR)\", \"file\": \"$$file\", \"command\": \"$$(cat build/release/flags) -c $$file\"}"; done | paste -sd , | sed 's/^/[/; s/$$/]/' > $@

# One token of the program changed at a time: do the tests see it? What survives is listed.
N ?= 100
SEED ?= 1
mutate:
	tools/mutate.py --count $(N) --seed $(SEED) $(if $(ONLY),--only $(ONLY))

screenshots: build/gemmview
	tools/screenshots.sh build/gemmview screenshots
	tools/tour build/gemmview screenshots/tour.txt screenshots/tour.svg

docs: build/gemmview
	tools/docs.sh build/gemmview docs

words:
	@tools/words.py

# --- packages -----------------------------------------------------------------------------------

portable: $(RELEASE_OBJECTS)
	@DRIVER=build/driver/libcuda.so.1 CC='$(CC)' CFLAGS='$(CFLAGS)' tools/portable.sh build/portable $^
wheel: portable
	@tools/wheel.sh build/portable build/dist
deb: build/gemmview
	@tools/deb.sh build/dist

# The program, its tests, the portable folder and the wheel for another machine.
CROSS_BUILT = build/$(ARCH)/unit build/$(ARCH)/gemmview
cross-test: export GEMMVIEW_PATIENCE ?= 10
cross cross-test: export QEMU_LD_PREFIX = $(CURDIR)/build/sysroot-$(ARCH)
cross: $(CROSS_BUILT)
	@DRIVER=build/driver-$(ARCH)/libcuda.so.1 CC='$(CROSS_CC)' CFLAGS='$(CFLAGS)' tools/portable.sh build/portable-$(ARCH) \
	  $(call objects,$(ARCH),src/main.c $(LIB_SOURCES))
	@tools/wheel.sh build/portable-$(ARCH) build/dist
cross-test: $(CROSS_BUILT)
	GEMMVIEW=build/$(ARCH)/gemmview build/$(ARCH)/unit $(SUITES)
# Libraries and headers of another machine; they stay until make clean.
build/sysroot-%:
	@tools/sysroot.sh $* $@

install: build/gemmview
	@tools/install.sh '$(DESTDIR)$(PREFIX)' install
uninstall:
	@tools/install.sh '$(DESTDIR)$(PREFIX)' uninstall

# What .ci/run does, and what takes longer: TSan, fuzzing, another machine, installing the packages.
ci-long:
	GEMMVIEW_CI=long .ci/run

clean:
	rm -rf build

.SECONDARY:
-include $(shell find build -path 'build/sysroot*' -prune -o -name '*.d' -print 2>/dev/null)
