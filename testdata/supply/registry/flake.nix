{
  description = "{{.Description}}";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      archives = {
{{- range .Platforms}}{{if .Nix}}
        {{.Nix}} = { url = "{{$.URL .}}"; sha256 = "{{$.Sum .}}"; };
{{- end}}{{end}}
      };
      package = system:
        let pkgs = nixpkgs.legacyPackages.${system}; in
        pkgs.stdenv.mkDerivation {
          pname = "quarry";
          version = "{{.Version}}";
          src = pkgs.fetchurl archives.${system};
          nativeBuildInputs = pkgs.lib.optional pkgs.stdenv.isLinux pkgs.autoPatchelfHook ++ [ pkgs.installShellFiles ];
          dontStrip = true;
          installPhase = ''
            install -Dm755 quarry $out/bin/quarry
            install -Dm644 quarry.vsix LICENCES sbom.cdx.json -t $out/share/quarry
            installManPage man/*.1
            installShellCompletion --cmd quarry --bash completions/quarry.bash --zsh completions/quarry.zsh --fish completions/quarry.fish
          '';
          meta = { homepage = "{{.Home}}"; license = pkgs.lib.licenses.asl20; mainProgram = "quarry"; };
        };
    in { packages = builtins.mapAttrs (system: _: { default = package system; }) archives; };
}
