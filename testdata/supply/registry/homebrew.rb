class Quarry < Formula
  desc "{{.Description}}"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Homebrew}}
  on_{{.Name}} do
{{- range .Platforms}}
    on_{{if eq .Arch "arm64"}}arm{{else}}intel{{end}} do
      url "{{$.URL .}}"
      sha256 "{{$.Sum .}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "quarry"
    pkgshare.install "quarry.vsix"
    doc.install "LICENCES", "sbom.cdx.json", "CHANGELOG.md"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/quarry.bash" => "quarry"
    zsh_completion.install "completions/quarry.zsh" => "_quarry"
    fish_completion.install "completions/quarry.fish"
  end

  test do
    (testpath/"mean.go").write "package mean\n\nfunc median(values []int) int { return values[len(values)/2] }\n"
    assert_match "mean.go", shell_output("#{bin}/quarry --workspace #{testpath} search median")
  end
end
