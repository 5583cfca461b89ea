# Everything a user or CI runs. `make help` lists the targets.
GO      ?= go
TAGS    := sqlite_fts5
# The longest package takes 100 seconds on two cores; ten minutes are too few for a loaded machine.
GOTEST  := $(GO) test -race -timeout 20m -tags $(TAGS)
BIN     := bin/quarry
# The C in the binary, SQLite and the grammars, reads what strangers wrote: addresses by
# chance, a table of functions that nobody can write to, checked copies and stacks.
ifeq ($(shell uname -s),Linux)
HARDEN  := CGO_CFLAGS="-O2 -g -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"
PIE     := -buildmode=pie
HARDLD  := -extldflags '-Wl,-z,relro -Wl,-z,now'
endif
# What `quarry version` says. A release is a tag v1.2.3.
VERSION ?= $(patsubst v%,%,$(shell git describe --tags --exact-match --match 'v*' 2>/dev/null))
STAMP   := quarry/cmd/internal/cli
LDFLAGS  = -X $(STAMP).release=$(VERSION) -X $(STAMP).commit=$(shell git rev-parse --short=12 HEAD 2>/dev/null) -X $(STAMP).date=$(shell git show -s --format=%cs HEAD 2>/dev/null) \
	-X $(STAMP).changed=$(if $(shell git status --porcelain --untracked-files=no 2>/dev/null),yes)
GOVULN  := golang.org/x/vuln/cmd/govulncheck@v1.1.4
PKGS    ?= ./...
# Where the checkouts of `make newcomer` are kept, some gigabyte.
HOLES_TREES ?= $(or $(QUARRY_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/quarry)/holes
NEWCOMER_TREES ?= $(or $(QUARRY_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/quarry)/newcomer

.DEFAULT_GOAL := build
.PHONY: agents right-answers vet-systems completions man dist registries test-registries eval newcomer hardened licences sbom vulnerabilities bench bench-vectors ghost ghost-rounds fixes imports help build demo modules test memory flaky test-editors vscode typescript zed screenshot vet ollama ollama-current minilm coder clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## build bin/quarry
	$(HARDEN) $(GO) build -trimpath $(PIE) -ldflags "$(LDFLAGS) $(HARDLD)" -tags $(TAGS) -o $(BIN) ./cmd/quarry

completions: build ## write the completions of shells to bin/completions
	@mkdir -p bin/completions
	@for shell in bash zsh fish powershell; do $(BIN) completion $$shell > bin/completions/quarry.$$shell || exit 1; done; echo bin/completions

man: build ## write the manual pages to bin/man
	@rm -rf bin/man && $(BIN) man bin/man && echo bin/man

eval: ## build bin/quarry-eval, which measures quarry's own quality
	$(GO) build -trimpath -tags $(TAGS) -o bin/quarry-eval ./cmd/quarry-eval

right-answers: eval ## fail where ghost text loses right answers of the suite's 640 (a minute; fetches the trees, no model)
	@testdata/holes/fetch.sh $(HOLES_TREES)
	@bin/quarry-eval ghost --corpus $(HOLES_TREES) --right --gate > /dev/null

newcomer: eval ## search over whole checkouts by a newcomer's questions (minutes; fetches the trees)
	@testdata/newcomer/fetch.sh $(NEWCOMER_TREES)
	@for half in fit held; do bin/quarry-eval newcomer --corpus $(NEWCOMER_TREES) --half $$half || exit 1; done

agents: eval ## what an agent needs for 40 tasks with quarry's tools and with ripgrep (minutes; fetches the trees, no model)
	@testdata/holes/fetch.sh $(HOLES_TREES)
	@bin/quarry-eval agents --corpus $(HOLES_TREES)

# What dist makes: PLATFORMS=linux-amd64,windows-amd64 makes some of them; SITE is the address of the repository's page.
dist: completions man vscode ## make the archives of all systems with their sums, bin/dist (needs npm, pip; cold a quarter of an hour for each)
	@$(GO) run ./testdata/supply dist -zig "$$(testdata/supply/zig.sh)" -version "$(VERSION)" -ldflags "$(LDFLAGS)" \
		-epoch "$$(git show -s --format=%ct HEAD)" -vsix editors/vscode/dist/quarry.vsix -home "$(SITE)" -only "$(PLATFORMS)" && echo bin/dist

registries: ## write what package managers want of archives, bin/registries (VERSION, SITE, MAINTAINER)
	@$(GO) run ./testdata/supply registries -version "$(VERSION)" -epoch "$$(git show -s --format=%ct HEAD)" -home "$(SITE)" -maintainer "$(MAINTAINER)" && echo bin/registries

test-registries: ## have their own validators judge what make registries writes (needs root, npm, pip; minutes the first time)
	@editors/chroot.sh make registries
	$(GO) vet -tags "$(TAGS) registries" ./testdata/supply
	$(GO) test -count=1 -v -tags "$(TAGS) registries" -run '^TestJudged' ./testdata/supply

hardened: build ## check that the binary is built against misuse (Linux)
	@$(GO) run ./testdata/supply hardened $(BIN)

licences: ## collect the licences of all that is linked in, bin/LICENCES
	@mkdir -p bin && $(GO) run ./testdata/supply licences ./cmd/quarry > bin/LICENCES && echo bin/LICENCES

sbom: ## list all that is linked in as CycloneDX, bin/sbom.cdx.json
	@mkdir -p bin && $(GO) run ./testdata/supply sbom ./cmd/quarry > bin/sbom.cdx.json && echo bin/sbom.cdx.json

vulnerabilities: ## look for known vulnerabilities, where their database can be reached
	@$(GO) run ./testdata/supply vulnerabilities $(GO) run $(GOVULN) -tags $(TAGS) ./...

demo: build ## show ghost text in this terminal, with Ollama if it answers
	@$(BIN) demo

vet: ## gofmt and go vet
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet -race -tags $(TAGS) ./... # what it compiles serves the tests, which a bare machine waits for

vet-systems: ## go vet of all that needs no C, for Windows and macOS, and the types of everything
	@for os in windows darwin; do export GOOS=$$os CGO_ENABLED=0; \
		$(GO) list -e -test -tags $(TAGS) -f '{{if or .DepsErrors .Error}}needs C{{else}}serves{{end}} {{or .ForTest .ImportPath}}' ./... 2>/dev/null | \
			awk '/^needs C/ {c[$$3] = 1} /^serves/ {all[$$2] = 1} END {for (p in all) if (!(p in c) && p !~ /\.test$$/) print p}' | \
			xargs $(GO) vet -tags $(TAGS) || exit 1; done
	@$(GO) run ./testdata/supply typecheck windows/amd64 darwin/arm64 linux/arm64

modules: ## fetch Go's modules, again where a download breaks off
	@$(GO) mod download || $(GO) mod download || $(GO) mod download

# Property tests draw the same cases each time, so that none fails by chance; `make flaky` draws others.
test: export RAPID_SEED ?= 1
test: modules vet ollama ## run every test with the race detector
	$(GOTEST) $(PKGS)

# The race detector multiplies memory, so that a bound met under it says little.
memory: ## hold what the process that users have may take: of memory for junk, of a login node, under a budget
	$(HARDEN) $(GO) test -trimpath $(PIE) -tags $(TAGS) -run '^(TestJunkInOpenDocuments|TestWithinTheLimitsOfALoginNode|TestTooLargeForALoginNode|TestBudgetUnderALimit)$$' ./cmd/quarry

ollama: ## build the Ollama the tests run against, once, and print its path
	@testdata/models/ollama.sh

ollama-current: ## build a newer Ollama too, which knows models of its cloud by name
	@QUARRY_OLLAMA_VERSION=0.18.0 testdata/models/ollama.sh

minilm: ollama ## serve a real embedding model (all-minilm) at 127.0.0.1:11599 for evaluations
	@testdata/models/minilm.sh serve 11599

coder: ollama ## serve a real code model (qwen2.5-coder:1.5b) at 127.0.0.1:11598 for evaluations
	@testdata/models/coder.sh 1.5b serve 11598

# Other people's plugins are fetched from their hosts, at the commits that the tests name. QUARRY_MIRROR=DIR takes them from clones in DIR
# where a machine cannot reach these; what is in neither is skipped, and says so.
test-editors: BEGAN := $(shell date +%s)
test-editors: ollama vscode ## type in real editors, which are installed once (needs root)
	@command -v tmux >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends tmux; }
	@editors/chroot.sh make && editors/chroot.sh make clients
	$(GO) vet -tags "$(TAGS) editors" ./editors/...
	editors/clean.sh $(GO) test -count=1 -timeout 40m -tags "$(TAGS) editors" ./editors/... # minutes; a loaded machine takes several times as long
	editors/clean.sh $(GO) test -count=1 -timeout 20m -tags "$(TAGS) editors" ./editors/nvim -nvim 0.11 # a minute
	@echo "test-editors took $$(( $$(date +%s) - $(BEGAN) )) s; the load is $$(cut -d' ' -f1-3 /proc/loadavg)"

bench: build ## measure what bench/ reports
	@$(GO) run -tags $(TAGS) ./bench/server -quarry $(BIN)

flaky: modules vet ollama ## run the tests 20 times each on 1, 2 and 8 processors, in random order (hours)
	@bench/tests.sh $(FLAKY)

bench-vectors: ## time the search in vectors (3 GB of memory, minutes; a quiet machine)
	@$(GO) run -tags $(TAGS) ./bench/vectors

ghost: eval ## ghost text of a real model beside plain FIM, both halves; fails where it is worse (hours; goes on where it was)
	@bench/ghost.sh 1.5b --gate

ghost-rounds: eval ## make ghost, and each choice of the prompt beside the usual one (a day; goes on where it was)
	@bench/ghost-rounds.sh

fixes: eval ## fixes and explanations of real diagnostics by a real model, judged by compilers (hours; goes on where it was)
	@bench/fixes.sh 1.5b --form line
	@bench/fixes.sh 1.5b --explain

imports: eval ## missing imports found without a model, in real trees and on the diagnostics of make fixes (minutes)
	@bench/imports.sh

zed: ## build the Zed extension, a WebAssembly component, and print its path (needs root)
	@editors/zed/build.sh make

vscode: ## build the VS Code extension, editors/vscode/dist/quarry.vsix (SITE; needs npm)
	cd editors/vscode && npm ci --silent && SITE="$(SITE)" npm run --silent pack

typescript: ## check the TypeScript client of quarry serve and compile it, lsp/service/client/typescript/dist (needs npm)
	cd editors/vscode && npm ci --silent && node_modules/.bin/tsc -p ../../lsp/service/client/typescript
	node lsp/service/client/typescript/dist/client.test.js
	node lsp/service/client/typescript/dist/device.test.js

screenshot: vscode ## take the pictures in docs/ anew
	@editors/chroot.sh make
	$(GO) test -count=1 -tags "$(TAGS) editors" ./editors/nvim -run '^TestGhostTextOfTheModel$$|^TestFix$$' -screenshot $(CURDIR)/docs
	$(GO) test -count=1 -tags "$(TAGS) editors" ./editors/emacs -run '^TestGhostTextOfLspMode$$|^TestFix$$|^TestPagesGrowBesideTheCode$$' -screenshot $(CURDIR)/docs
	$(GO) test -count=1 -tags "$(TAGS) editors" ./editors/helix -run '^TestFix$$' -screenshot $(CURDIR)/docs
	$(GO) test -count=1 -tags "$(TAGS) editors" ./editors/vscode -run '^TestGhostText$$|^TestAssistance$$' -screenshot $(CURDIR)/docs

clean: ## remove what the build made
	rm -rf bin
