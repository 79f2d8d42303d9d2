# Everything one does with this repository. `make` alone lists it.

GO        ?= go
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
BENCH     ?= .
PKG       ?= ./...
FUZZTIME  ?= 30s
SEEDS     ?= 10000

# One static binary, the same everywhere; only the race detector needs cgo.
export CGO_ENABLED = 0
# No machine's paths in what is built. For tests too, so that they and the binary
# are compiled once.
export GOFLAGS := $(GOFLAGS) -trimpath

STATICCHECK = $(GO) tool -modfile=tools/go.mod staticcheck
STEP        = @tools/step

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check bench build fuzz generate rename-module tokenizers parse-score measure-finish measure-check measure-anomalies simulate mutants clean deps servers fuzz-all long race cc

help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

demo: build ## watch an agent finish a real task: no key; network only to fetch modules
	@bin/rein demo

test: deps servers ## the tests, under 10 minutes on 2 cores; offline after the first time
	$(STEP) test $(GO) test ./...
	$(STEP) collector $(GO) -C tools/otel-collector test ./...

test-all: test fuzz-all long race ## test, then short fuzzing, the longer tests and the race detector, under 40 minutes

check: deps ## formatting, vet, staticcheck, generated files, import directions, stray secrets and paths
	$(STEP) gofmt tools/check-gofmt
	$(STEP) vet $(GO) vet ./...
	$(STEP) staticcheck $(STATICCHECK) ./...
	$(STEP) tidy $(GO) mod tidy -diff
	$(STEP) tidy-collector $(GO) -C tools/otel-collector mod tidy -diff
	$(STEP) generated tools/check-generated
	$(STEP) tools $(GO) -C tools test ./...
	$(STEP) structure $(GO) test ./internal/arch -run '^TestTree'

bench: deps ## the benchmarks; BENCH=pattern and PKG=./loop/... choose some
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

build: ## build bin/rein, one static binary
	@echo 'building bin/rein … (the first time takes a few minutes)'
	@$(GO) build -ldflags '-X main.version=$(VERSION)' -o bin/rein ./cmd/rein

fuzz: deps ## fuzz every target in PKG for FUZZTIME each
	@tools/fuzz $(FUZZTIME) $(PKG)

generate: ## write the generated files again, windows and prices of models and OpenAI's vocabularies included
	@$(GO) generate ./...
	@$(GO) -C tools/catalog run . -out ../../model/catalog/models.txt
	@tools/need-tiktoken
	@$(GO) -C tools/vocab run . -from ../../.cache/vocab/node_modules/tiktoken -out ../../tokens/vocab

rename-module: ## give the module another path: make rename-module TO=example.org/you/rein
	@test -n "$(TO)" || { echo 'say where to: make rename-module TO=example.org/you/rein' >&2; exit 2; }
	@$(GO) -C tools run ./rename-module -dir .. -to '$(TO)'

tokenizers: ## compare counts of tokens with tiktoken; FILES=tokenizer.json PYTHON=python3: with the Python package tokenizers
	@tools/need-tiktoken
	@$(GO) test -count=1 -v -run 'Against' ./tokens/vocab -tiktoken '$(abspath .cache/vocab/node_modules/tiktoken)' -samples 60000
	@test -z "$(FILES)" || $(GO) test -count=1 -v -run 'Against' ./tokens/huggingface -tokenizers '$(abspath $(FILES))' -python '$(or $(PYTHON),python3)'

parse-score: build ## how many recorded replies are read as they are meant: make parse-score FILE=replies.jsonl
	@test -n "$(FILE)" || { echo 'say which recordings: make parse-score FILE=replies.jsonl' >&2; exit 2; }
	@$(GO) -C tools run ./parse-score -rein ../bin/rein '$(abspath $(FILE))'

measure-finish: deps ## what the rules on progress and on what an end leaves open find in recorded runs: make measure-finish FILE=runs.json
	@test -n "$(FILE)" || { echo 'say which recordings: make measure-finish FILE=runs.json' >&2; exit 2; }
	@$(GO) test -count=1 -v -run '^TestRecorded$$' ./loop -args -recorded '$(abspath $(FILE))'

measure-check: deps ## what a real model's completion checks find in recorded runs: make measure-check FILE=runs.json URL=http://127.0.0.1:8080/v1 MODEL=name RUNS=20
	@test -n "$(FILE)" -a -n "$(URL)" -a -n "$(MODEL)" || { echo 'say which recordings, which server and which model: make measure-check FILE=runs.json URL=http://127.0.0.1:8080/v1 MODEL=name' >&2; exit 2; }
	@$(GO) test -count=1 -v -timeout 0 -run '^TestRecordedCheck$$' ./loop -args -recorded '$(abspath $(FILE))' -check-url '$(URL)' -check-model '$(MODEL)' -check-runs $(or $(RUNS),20)

measure-anomalies: deps ## what is found in recorded runs, by kind, in those that ended well and badly: make measure-anomalies FILE=runs.json
	@test -n "$(FILE)" || { echo 'say which recordings: make measure-anomalies FILE=runs.json' >&2; exit 2; }
	@$(GO) test -count=1 -v -run '^TestRecorded$$' ./trace/anomaly -args -recorded '$(abspath $(FILE))'

simulate: deps ## play simulated histories of runs: SEEDS=100000 many, SEED=4711 one, told
	@$(GO) test -v -timeout 0 ./engine/simtest -run '^TestSimulate$$' -args $(if $(SEED),-seed $(SEED),-seeds $(SEEDS) -keep)

mutants: deps ## see that the simulation finds each of the faults in engine/simtest/testdata/mutants.txt
	@$(GO) -C tools run ./mutants -dir ..

clean: ## remove what the targets above have built
	@rm -rf bin .cache

# The parts of the targets above.

deps:
	@$(GO) mod download
	@$(GO) -C tools/otel-collector mod download

servers:
	@tools/need-mcp-servers

fuzz-all: deps
	$(STEP) fuzz tools/fuzz 3s ./...

# Tests that take minutes read REIN_LONG; go test runs only those packages again.
long: deps servers
	$(STEP) long env REIN_LONG=1 $(GO) test -timeout 30m ./...

race: deps servers cc
	$(STEP) race env CGO_ENABLED=1 $(GO) test -race -timeout 30m ./...

cc:
	@tools/need-cc
