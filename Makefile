# The two commands of the README, and what developers use besides.
# Each does its own set-up: it installs what is missing, or says what to install.

CARGO ?= cargo
NATIVE ?= yes
RATE = target/tools/bin/rate
PYPERPLAN = target/tools/pyperplan
SOURCES ?= yes

# What `make random` draws is new each time; `SEED=n` draws the same again.
ifndef SEED
SEED := $(shell date +%s)
endif

PREFIX ?= /usr/local

.PHONY: demo test setup setup-native setup-test native install uninstall deb test-deb deny fmt bench bench-solver bench-predict bench-plan bench-explore bench-explore-compiled bench-check bench-record bench-runs bench-run mutation random random-machine random-predict random-plan random-explore random-check random-twins fuzz-solver solver-contracts

demo: setup-native
	@CARGO="$(CARGO)" sh scripts/demo.sh

test: setup-test
	@CARGO="$(CARGO)" NATIVE="$(NATIVE)" SOURCES="$(SOURCES)" RATE="$(CURDIR)/$(RATE)" PYPERPLAN="$(CURDIR)/$(PYPERPLAN)" sh scripts/test.sh

setup:
	@sh scripts/setup.sh

setup-native:
	@sh scripts/setup.sh native

setup-test: $(RATE)
	@NATIVE="$(NATIVE)" sh scripts/setup.sh test
	@[ -d $(PYPERPLAN) ] || python3 -m pip install --quiet --no-deps --target $(PYPERPLAN) pyperplan==2.1

# A checker of clausal proofs that is not ours: the solver's tests show it what is claimed to be impossible.
$(RATE):
	@sh scripts/setup.sh
	$(CARGO) install --quiet --locked --version 0.3.0 --root target/tools rate

# What goes into compiled programs: the compiler pass and the runtime. They need LLVM 22.
native: setup-native
	@CARGO="$(CARGO)" sh scripts/build-native.sh

# The tool, its wrappers for build systems, what goes into compiled programs, man pages and completions.
# NATIVE=no installs it for model programs only.
install:
	@CARGO="$(CARGO)" NATIVE="$(NATIVE)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" sh scripts/build-and-install.sh

uninstall:
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" sh scripts/install.sh remove

# A Debian package; then that it installs in a bare root and finds there what the demo finds.
deb:
	@sh scripts/setup.sh deb
	@CARGO="$(CARGO)" sh scripts/build-native.sh -p threadbare
	@sh scripts/deb.sh

test-deb: deb
	@sh scripts/setup.sh bare-root
	@bash scripts/deb-test.sh "$$(ls -t $${CARGO_TARGET_DIR:-target}/threadbare_*.deb | head -n 1)"

# Licences and advisories of dependencies (deny.toml); fetches the database of advisories.
deny:
	$(CARGO) deny --all-features check

fmt:
	$(CARGO) fmt --all

bench: setup
	$(CARGO) bench --locked -p threadbare-machine -p threadbare-trace

# Threadbare's solver beside z3 and cvc5 on generated traces, then alone on larger ones.
bench-solver: setup
	@sh scripts/setup.sh solvers
	$(CARGO) run --release --locked -p threadbare-solver --example bench_solver -- --limit 60 p100 p300 p1000 h300
	$(CARGO) run --release --locked -p threadbare-solver --example bench_solver -- --only-ours --limit 300 p10000 h1000 h3000 p10000x8
	$(CARGO) run --release --locked -p threadbare-solver --example bench_solver -- --only-ours --limit 300 --seeds 6 h1000x8

# AV Table 1 beside z3 on the same formulas, the banks with 64 clerks, and how prediction grows with the trace.
bench-predict: setup
	@sh scripts/setup.sh solvers
	$(CARGO) build --release --locked -p threadbare-predict --example bench
	$(CARGO) run --release --locked -p threadbare-predict --example bench -- table
	$(CARGO) run --release --locked -p threadbare-predict --example bench -- table --no-z3 64
	$(CARGO) run --release --locked -p threadbare-predict --example bench -- scaling

# PLAN Table 1: access patterns that lock-valid runs, plans, both and the symbolic engine show, and what that takes.
bench-plan: setup
	$(CARGO) run --release --locked -p threadbare-predict --example bench -- plan

# What recording a compiled program costs, beside plain, ThreadSanitizer and helgrind.
bench-record:
	@sh scripts/setup.sh bench
	@CARGO="$(CARGO)" sh scripts/build-native.sh
	$(CARGO) run --release --locked -p threadbare-suite --example bench_record

# How many runs of small compiled programs are made in a second, with a process for each and with one that forks itself.
bench-runs: setup-native
	@CARGO="$(CARGO)" sh scripts/build-native.sh
	$(CARGO) run --release --locked -p threadbare-suite --example bench_runs

# The table of AV on compiled programs, beside ThreadSanitizer and helgrind, and a program of thousands of lines with a
# trace of a million events from end to end.
bench-run:
	@sh scripts/setup.sh bench
	@CARGO="$(CARGO)" sh scripts/build-native.sh
	$(CARGO) run --release --locked -p threadbare-suite --example bench_run

# Programs that are right, broken at one place at a time: how many of the broken ones are noticed from passing runs.
mutation: setup-native
	@CARGO="$(CARGO)" sh scripts/build-native.sh
	$(CARGO) run --release --locked -p threadbare-suite --example mutation

# The full count of random programs; `make test` runs a smaller one. One part for each engine that is compared with the oracle.
random: random-machine random-predict random-plan random-explore random-check
	@echo "make random: all comparisons with the oracle passed"

random-machine: setup
	@echo "random-machine: SEED=$(SEED)"
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=10000 $(CARGO) test --release --locked -p threadbare-lang --features random --lib
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=10000 $(CARGO) test --release --locked -p threadbare-machine --test all -- random::
	@echo "make random-machine: 10,000 programs passed each property of the language and of the machine"

random-predict: setup
	@echo "random-predict: SEED=$(SEED)"
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=20000 $(CARGO) test --release --locked -p threadbare-predict \
		--test all -- random:: full:: windows:: wakeups::
	@echo "make random-predict: 20,000 programs passed each comparison of the symbolic engine with the oracle"

random-plan: setup
	@echo "random-plan: SEED=$(SEED)"
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=2000 $(CARGO) test --release --locked -p threadbare-predict \
		--test all -- planning:: sync::
	@echo "make random-plan: 2,000 programs passed each comparison of plans, lock-valid runs and sync-preserving runs with the oracle"

random-explore: setup
	@echo "random-explore: SEED=$(SEED)"
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=20000 $(CARGO) test --release --locked -p threadbare-explore \
		--test all -- against_the_oracle:: paths:: prune:: traced::
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=2000 $(CARGO) test --release --locked -p threadbare-explore \
		--test all -- switches:: spins:: workers::
	@echo "make random-explore: 20,000 programs passed each comparison of the search with the oracle, 2,000 those of bounds, spins and workers"

random-check: setup
	@echo "random-check: SEED=$(SEED)"
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=20000 $(CARGO) test --release --locked -p threadbare-check \
		--test all -- outcomes:: races:: atomicity:: store_buffers::
	@echo "make random-check: 20,000 programs passed each comparison of memory models with the oracle"

# The same for compiled programs: what the oracle says of random model programs, beside what is found in their twins in C.
random-twins: setup-native
	@echo "random-twins: SEED=$(SEED)"
	@CARGO="$(CARGO)" sh scripts/build-native.sh
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=2000 \
		$(CARGO) test --release --locked -p threadbare-suite --test all -- random_twins:: --nocapture
	@echo "make random-twins: of 6,000 random programs, those in C show what the oracle says of their twins; above is what could not be compared"

# The full count of random formulas and scripts against z3, and the same with CaDiCaL's own contract checks on.
fuzz-solver: setup-test
	THREADBARE_SOLVER_FUZZ=50000 $(CARGO) test --release --locked -p threadbare-solver \
		--test all -- against_z3:: scripts_against_z3:: --nocapture

solver-contracts: setup-test
	CXXFLAGS="-include $(CURDIR)/crates/solver/tests/contracts.h" CARGO_TARGET_DIR=target/contracts \
		THREADBARE_SOLVER_FUZZ=5000 $(CARGO) test --locked -p threadbare-solver \
		--test all -- against_z3:: scripts_against_z3:: --nocapture

# How many runs each strategy of explore needs, on the programs of PRUNE Table 1 and Fig. 6.
bench-explore: setup
	$(CARGO) run --release --locked -p threadbare-explore --example bench_explore

# The same for compiled programs.
bench-explore-compiled: setup-native
	@CARGO="$(CARGO)" sh scripts/build-native.sh
	$(CARGO) run --release --locked -p threadbare-suite --example bench_explore_compiled

# The questions of MM Fig. 6, programs of up to 500 memory operations, and 1,000 litmus tests made from
# cycles; beside z3 on the same formulas.
bench-check: setup
	@sh scripts/setup.sh solvers
	$(CARGO) build --release --locked -p threadbare
	$(CARGO) run --release --locked -p threadbare-check --example bench_check -- $${CARGO_TARGET_DIR:-target}/release/threadbare
