package overview

import (
	"strings"
	"testing"

	"quarry/retrieval"
)

// Commands count by what they run: of these words each stands in commands that do something else.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		topic   retrieval.Topic
		command string
		want    bool
	}{
		{retrieval.TopicTests, "cargo test --locked", true},
		{retrieval.TopicTests, "cargo +nightly nextest run", true},
		{retrieval.TopicTests, "cargo fmt -- --check", false},
		{retrieval.TopicTests, "cargo check", false},
		{retrieval.TopicTests, `echo "LOWEST_DEPS_TEST=1" >> $GITHUB_ENV`, false},
		{retrieval.TopicTests, "cd test", false},
		{retrieval.TopicTests, "mkdir -p /tmp/test-go && cd /tmp/test-go", false},
		{retrieval.TopicTests, "-DCMAKE_INSTALL_PREFIX=${{ runner.temp }}/install_test/", false},
		{retrieval.TopicTests, "tests-all.json)", false},
		{retrieval.TopicTests, "make check-licence", false},
		{retrieval.TopicTests, "uv run rumdl check .", false},
		{retrieval.TopicTests, "! bin/bats test/fixtures/failing.bats", false},
		{retrieval.TopicTests, "pip install pytest", false},
		{retrieval.TopicTests, "npm ci && npm test", true},
		{retrieval.TopicTests, "pnpm run test:unit", true},
		{retrieval.TopicTests, "yarn exec jest", true},
		{retrieval.TopicTests, "uv run --frozen pytest --cov", true},
		{retrieval.TopicTests, "python -m pytest", true},
		{retrieval.TopicTests, "python3 -W error -m pytest", false},
		{retrieval.TopicTests, "bundle exec rspec", true},
		{retrieval.TopicTests, "if ! vendor/bin/phpunit; then exit 1; fi", false},
		{retrieval.TopicTests, "CI=1 sudo ./run_tests.sh -v", true},
		{retrieval.TopicTests, "bash scripts/test.sh", true},
		{retrieval.TopicTests, "./check_pr.sh test", false},
		{retrieval.TopicTests, "./configure && make check", true},
		{retrieval.TopicTests, "make -C src -j4 test", true},
		{retrieval.TopicTests, "./gradlew :core:test", true},
		{retrieval.TopicTests, "./gradlew :integration-tests:assemble", false},
		{retrieval.TopicTests, "mvn -B verify", false},
		{retrieval.TopicTests, "./mvnw -B clean test", true},
		{retrieval.TopicTests, "dotnet test a.csproj -c Release", true},
		{retrieval.TopicTests, "ctest -C Debug", true},
		{retrieval.TopicTests, "bazel test //...", true},
		{retrieval.TopicTests, "go test -race ./...", true},
		{retrieval.TopicTests, "go build ./test", false},
		{retrieval.TopicBuild, "go build ./...", true},
		{retrieval.TopicBuild, `echo "BUILD_CMD=cross" >> $GITHUB_ENV`, false},
		{retrieval.TopicBuild, "package main", false},
		{retrieval.TopicBuild, "build", false},
		{retrieval.TopicBuild, "cmake --build build --config Release", true},
		{retrieval.TopicBuild, "cmake --build build --target test", false},
		{retrieval.TopicBuild, "pip install build", false},
		{retrieval.TopicBuild, "python -m build", true},
		{retrieval.TopicBuild, "make -j 4", true},
		{retrieval.TopicBuild, "make lint", false},
		{retrieval.TopicBuild, "make test", false},
		{retrieval.TopicBuild, "docker build -t x .", true},
		{retrieval.TopicBuild, "./build.sh", true},
		{retrieval.TopicBuild, "./gradlew build -x test", true},
		{retrieval.TopicBuild, "npm run build", true},
	} {
		if got := serves(c.topic, c.command); got != c.want {
			t.Errorf("%v by %q: %v", c.topic, c.command, got)
		}
	}
}

// What goes on in the next line is one command, what a command is given to read is none, and a
// command without anything filled in comes before one with.
func TestStepOf(t *testing.T) {
	workflow := `jobs:
  build:
    steps:
      - run: |
          cat > main.go <<'EOF'
          go build ./...
          EOF
          cmake -S . \
            -DTESTS=on \
            --build build
          cargo build --target ${{ matrix.t }}
      - name: tests
        run: >
          ./gradlew
          test
      - run: "npm run build"
`
	lines := strings.Split(workflow, "\n")
	if at, command := stepOf(retrieval.TopicTests, lines); at != 14 || command != "./gradlew test" {
		t.Errorf("tests by line %d: %q", at, command)
	}
	if at, command := stepOf(retrieval.TopicBuild, lines); at != 16 || command != "npm run build" {
		t.Errorf("built by line %d: %q", at, command)
	}
}

// A repository's commands may have no end: a program that runs a program that runs a program, on one
// line or over many, is read once. With each of them read anew this takes minutes.
func TestStepsWithoutEnd(t *testing.T) {
	for name, line := range map[string]string{
		"runners":      "      - run: " + strings.Repeat("uvx ", 1<<18) + "pytest",
		"tools":        "      - run: " + strings.Repeat("yarn exec ", 1<<17) + "jest",
		"interpreters": "      - run: " + strings.Repeat("python -m ", 1<<17) + "pytest",
		"many lines":   "      - run: >\n" + strings.Repeat("          "+strings.Repeat("x", 1<<10)+"\n", 1<<12) + "          && pytest",
	} {
		lines := strings.Split(line, "\n")
		for _, topic := range []retrieval.Topic{retrieval.TopicTests, retrieval.TopicBuild} {
			if at, command := stepOf(topic, lines); at != 0 {
				t.Errorf("%s: %v by line %d: %.60q", name, topic, at, command)
			}
		}
	}
}
