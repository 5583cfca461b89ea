package engines

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/model"
	"quarry/model/catalogue"
	"quarry/model/download"
)

// digest compares an installed model with the catalogue, and the bytes of its own file with the sha256 that Ollama names it
// by: Ollama reads a file only when it comes, and keeps one that it has whatever became of it. The error says that ctx ended.
func (m *Models) digest(ctx context.Context, at model.Installed, as string, report Doing) (model.Finding, error) {
	path, sum, err := m.Weights(ctx, at.Name)
	if err != nil {
		path, sum = "", ""
	}
	f := m.compare(at, as, sum)
	if !f.OK {
		return f, nil
	}
	size, ok := readable(path)
	if !ok {
		if sum != "" {
			f.Detail += ", by the name that Ollama gives it"
		}
		f.Detail += "; its bytes were not read"
		return f, nil
	}
	read, err := download.SumOf(ctx, path, func(done int64) { report("reading "+as, done, size) })
	switch {
	case ctx.Err() != nil:
		return f, ctx.Err()
	case err != nil:
		f.Detail += fmt.Sprintf(": its file cannot be read to its end: %v", err)
	case read != sum:
		f.Detail += fmt.Sprintf(": its file is damaged, %s has the sha256 %s", path, read[:12])
	default:
		f.Detail += "; its bytes were read and have the sum that Ollama names them by"
		return f, nil
	}
	f.OK, f.Note, f.Fix = false, false, m.anew(ctx, sum, as)
	return f, nil
}

// compare compares what Ollama says of an installed model with the catalogue: its digest, and the sum of its own file, "" if
// it does not say.
func (m *Models) compare(at model.Installed, as, sum string) model.Finding {
	f := model.Finding{Name: "digest", OK: true, Detail: at.Digest[:min(12, len(at.Digest))] + ", " + catalogue.Gigabytes(at.Bytes)}
	e, _ := m.Catalogue.Find(as)
	wrong := func(what, want string) model.Finding {
		f.OK = false
		f.Detail += fmt.Sprintf(": the catalogue wants %s%s", what, want)
		f.Fix = fmt.Sprintf("quarry model pull %s, or correct the catalogue if you trust this one", as)
		return f
	}
	anew := func() model.Finding { // libraries may publish a name anew
		f.Note = true
		f.Detail += ", another than the catalogue knows"
		f.Fix = "if you did not make it yourself: quarry model pull " + as + " fetches what the library has now"
		return f
	}
	switch known := strings.TrimPrefix(e.Digest, "sha256:"); {
	case known == "":
	case strings.HasPrefix(at.Digest, known):
		f.Detail += ", the digest of the catalogue"
	case e.Library:
		return anew()
	default:
		return wrong("", e.Digest)
	}
	if e.SHA256 == "" {
		if e.Name != "" && e.Digest == "" {
			f.Detail += "; the catalogue knows no sum of it: only Ollama has checked it, by its library's digest"
		}
		return f
	}
	switch {
	case sum == "":
		f.Detail += ", and Ollama does not say of which file"
	case sum != e.SHA256 && e.Library:
		return anew()
	case sum != e.SHA256:
		return wrong("a file with sha256 ", e.SHA256[:12])
	default:
		f.Detail += ", the file with sha256 " + e.SHA256[:12] + " of the catalogue"
	}
	return f
}

// readable is the size of a file that Ollama names, where it is one of this machine that this user may read: Ollama may be in a box of its
// own, and its folder another user's.
func readable(path string) (size int64, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !filepath.IsAbs(path) || !info.Mode().IsRegular() {
		return 0, false
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	f.Close()
	return info.Size(), true
}

// anew says how the damaged file with this sum comes anew: Ollama keeps it as long as a model has it, whatever is fetched.
// Trials and what is kept beside them go by themselves.
func (m *Models) anew(ctx context.Context, sum, as string) string {
	list, _ := m.List(ctx) // who does not answer now does not answer `quarry model rm` either
	brief := model.FindUnfinished(list)
	do := "run "
	for _, i := range list {
		if slices.ContainsFunc(brief, func(u model.Unfinished) bool { return u.Name == i.Name }) {
			continue
		}
		if _, its, err := m.Weights(ctx, i.Name); err == nil && its == sum {
			do += "`quarry model rm " + i.Name + "`, then "
		}
	}
	do += "`quarry model pull " + as + "`"
	if _, known := m.Catalogue.Find(as); !known {
		do += ", or import its file again"
	}
	return do
}
