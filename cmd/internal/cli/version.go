package cli

import "runtime/debug"

// release is set by the linker for releases.
var release = ""

// Version is the release, else what the build knows of its source.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "development"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "development"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && v == "development" {
			v += "-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return v
}
