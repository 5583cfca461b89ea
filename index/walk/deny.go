package walk

import (
	"path"
	"strings"
)

// Reason says why a path is left out.
type Reason string

// The reasons for leaving a path out.
const (
	Ignored        Reason = "ignored" // by an ignore file
	BySettings     Reason = "left out by index.exclude"
	Own            Reason = "quarry's own state"
	Secret         Reason = "secret"          // keys, credentials; nothing lifts this
	VersionControl Reason = "version control" // .git and the like
	Dependencies   Reason = "dependencies"
	BuildOutput    Reason = "build output"
	Minified       Reason = "minified"
	LockFile       Reason = "lock file"
	Media          Reason = "media" // images, fonts, sound, office documents
	Archive        Reason = "archive"
	Binary         Reason = "binary"
	Database       Reason = "database"
	TooLarge       Reason = "too large"
	RulesCut       Reason = "too many rules"   // an ignore file of which a part is not in force, or what a .quarryignore like that is about
	Link           Reason = "link"             // a symbolic link, met in a walk
	Outside        Reason = "outside"          // resolves to a place outside the root
	RulesUnread    Reason = "unreadable rules" // a .quarryignore that cannot be read, and what lies beside and below it
	Special        Reason = "not a file"       // socket, pipe, device
	Unreadable     Reason = "cannot read"      // missing, or no permission
)

// IsPrivate answers whether somebody may have left the path out because nobody is to read
// it: what was in an index of it leaves that without a trace.
func (r Reason) IsPrivate() bool {
	return r == Secret || r == Ignored || r == RulesCut || r == RulesUnread
}

// deniedDirs are folders that are never source, by name alone.
var deniedDirs = map[string]Reason{
	".git": VersionControl, ".hg": VersionControl, ".svn": VersionControl, ".bzr": VersionControl, ".jj": VersionControl, "CVS": VersionControl,
	"node_modules": Dependencies, "bower_components": Dependencies, "jspm_packages": Dependencies, ".venv": Dependencies, "site-packages": Dependencies,
	".bundle": Dependencies, "Pods": Dependencies, ".terraform": Dependencies, ".pnpm-store": Dependencies, ".yarn": Dependencies, "elm-stuff": Dependencies,
	"__pycache__": BuildOutput, ".tox": BuildOutput, ".nox": BuildOutput, ".mypy_cache": BuildOutput, ".pytest_cache": BuildOutput, ".ruff_cache": BuildOutput,
	".next": BuildOutput, ".nuxt": BuildOutput, ".svelte-kit": BuildOutput, ".gradle": BuildOutput, ".cache": BuildOutput, ".parcel-cache": BuildOutput,
	".turbo": BuildOutput, "DerivedData": BuildOutput, ".nyc_output": BuildOutput, ".eggs": BuildOutput, ".dart_tool": BuildOutput, ".stack-work": BuildOutput,
	"bazel-bin": BuildOutput, "bazel-out": BuildOutput, "cmake-build-debug": BuildOutput, "cmake-build-release": BuildOutput, ".vs": BuildOutput, "_build": BuildOutput,
}

// markedDirs are folders whose name is not proof enough: they are left out if one
// of the files stands beside them ("../x") or in them.
var markedDirs = map[string]struct {
	reason Reason
	marks  []string
}{
	"target": {BuildOutput, []string{"../Cargo.toml", "../pom.xml", "../build.sbt"}},
	"build":  {BuildOutput, []string{"../build.gradle", "../build.gradle.kts", "CMakeCache.txt"}},
	"dist":   {BuildOutput, []string{"../package.json", "../setup.py", "../pyproject.toml"}},
	"bin":    {BuildOutput, []string{"../obj/project.assets.json"}},
	"obj":    {BuildOutput, []string{"project.assets.json"}},
	"vendor": {Dependencies, []string{"modules.txt", "autoload.php", "bundle"}},
	"venv":   {Dependencies, []string{"pyvenv.cfg"}},
	"env":    {Dependencies, []string{"pyvenv.cfg"}},
	"deps":   {Dependencies, []string{"../mix.exs"}},
	// _build is denied by name above; coverage reports have many names.
	"coverage": {BuildOutput, []string{"lcov.info", "lcov-report", "coverage-final.json"}},
}

var deniedNames = map[string]Reason{
	"package-lock.json": LockFile, "npm-shrinkwrap.json": LockFile, "pnpm-lock.yaml": LockFile, "go.sum": LockFile, "go.work.sum": LockFile,
	"packages.lock.json": LockFile, "bun.lockb": LockFile, "package.resolved": LockFile, "gradle.lockfile": LockFile, ".terraform.lock.hcl": LockFile,
	".ds_store": Media, "thumbs.db": Media, "cachedir.tag": BuildOutput,
}

var deniedExts = func() map[string]Reason {
	m := map[string]Reason{}
	for reason, list := range map[Reason]string{
		LockFile: ".lock",
		Minified: ".map",
		Media: `.png .jpg .jpeg .gif .bmp .ico .icns .webp .tif .tiff .psd .svg .avif .heic .eps .ai .xcf .woff .woff2 .ttf .otf .eot
			.mp3 .mp4 .m4a .mov .avi .wav .ogg .flac .webm .mkv .pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp`,
		Archive: ".zip .tar .gz .tgz .bz2 .xz .zst .lz4 .7z .rar .jar .war .ear .whl .egg .gem .nupkg .deb .rpm .dmg .iso .apk .ipa .crx .vsix",
		Binary: `.exe .dll .so .dylib .a .o .obj .lib .ko .elf .pyc .pyo .pyd .class .wasm .bin .beam .rlib .rmeta .pdb .ilk .exp .swp
			.npy .npz .pkl .pickle .parquet .arrow .feather .onnx .gguf .safetensors .pt .pth .h5 .hdf5 .tflite .pb .ckpt .syso`,
		Database: ".db .sqlite .sqlite3 .mdb .accdb .ldb .rdb .frm .ibd",
	} {
		for _, ext := range strings.Fields(list) {
			m[ext] = reason
		}
	}
	return m
}()

// denied is the built-in list. exists answers for a path relative to the
// candidate's own folder. An ignore file can lift what it says with "!".
func denied(base string, dir bool, exists func(rel string) bool) Reason {
	if IsGit(base) { // a file in worktrees and submodules
		return VersionControl
	}
	if dir {
		if r := deniedDirs[base]; r != "" {
			return r
		}
		if m, ok := markedDirs[base]; ok {
			for _, mark := range m.marks {
				if rel, beside := strings.CutPrefix(mark, "../"); beside && exists(rel) || !beside && exists(base+"/"+mark) {
					return m.reason
				}
			}
		}
		if strings.HasSuffix(base, ".egg-info") || strings.HasSuffix(base, ".xcassets") {
			return BuildOutput
		}
		return ""
	}
	base = strings.ToLower(base)
	if r := deniedNames[base]; r != "" {
		return r
	}
	if r := deniedExts[path.Ext(base)]; r != "" {
		return r
	}
	if strings.HasSuffix(base, ".min.js") || strings.HasSuffix(base, ".min.css") || strings.HasSuffix(base, ".min.mjs") || strings.HasSuffix(base, "-min.js") {
		return Minified
	}
	return ""
}
