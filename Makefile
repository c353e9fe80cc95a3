# The two commands of the README, and what developers use besides.
# Each does its own set-up: it installs what is missing, or says what to install.

CARGO ?= cargo

.PHONY: demo test bench setup fmt lint doc unit random

demo: setup
	@CARGO="$(CARGO)" sh scripts/demo.sh

test: setup lint unit doc
	@echo "make test: everything passed"

setup:
	@sh scripts/setup.sh

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings

unit:
	$(CARGO) test --workspace --all-features --locked

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --all-features --no-deps --locked

fmt:
	$(CARGO) fmt --all

bench: setup
	$(CARGO) bench --workspace --locked

# The full count of random programs; `make test` runs a smaller one.
random: setup
	PROPTEST_CASES=10000 $(CARGO) test --release --locked -p threadbare-lang --features random --lib
	PROPTEST_CASES=10000 $(CARGO) test --release --locked -p threadbare-machine --test random
	@echo "make random: 10,000 programs passed each property"
