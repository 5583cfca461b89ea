package mask

import "strings"

// appendNumbers finds private keys whose numbers stand each for itself: .NET's XML, and what
// OpenSSL prints of a key.
func appendNumbers(list []Span, text string) []Span {
	for _, wrap := range []string{"RSAKeyValue", "DSAKeyValue"} {
		for at := 0; ; {
			i := strings.Index(text[at:], wrap)
			if i < 0 {
				break
			}
			at += i + len(wrap)
			end := min(len(text), at+longestKey)
			if n := strings.Index(text[at:end], wrap); n >= 0 {
				end = at + n
			}
			list = appendElements(list, text, at, end)
			at = end
		}
	}
	if !strings.Contains(text, "prime1:") && !strings.Contains(text, "privateExponent:") && !strings.Contains(text, "priv:") {
		return list
	}
	for _, name := range []string{"privateExponent:", "prime1:", "prime2:", "exponent1:", "exponent2:", "coefficient:", "priv:"} {
		for at := 0; ; {
			i := strings.Index(text[at:], name)
			if i < 0 {
				break
			}
			at += i + len(name)
			list, at = appendPrinted(list, text, at)
		}
	}
	return list
}

// privateElements are those of a key in XML that a public key does not have.
var privateElements = []string{"D", "P", "Q", "DP", "DQ", "InverseQ", "X"}

// appendElements finds their values in text[from:to]. A public key of DSA has P and Q, too, and
// the generator G beside them.
func appendElements(list []Span, text string, from, to int) []Span {
	part := text[from:to]
	for _, name := range privateElements {
		if len(name) == 1 && name != "D" && name != "X" && (strings.Contains(part, "<G>") || strings.Contains(part, "lt;G&")) {
			continue
		}
		for _, opened := range []string{"<" + name + ">", "&lt;" + name + "&gt;"} {
			i := strings.Index(part, opened)
			if i < 0 {
				continue
			}
			start := from + i + len(opened)
			stop := strings.IndexAny(text[start:to], "<&")
			if stop < 0 {
				stop = to - start
			}
			for _, r := range runsOf(text, start, start+stop, false) {
				if value := text[r.Start:r.End]; len(value) >= leastPiece && !worded(value) && strings.Trim(value, "x") != "" {
					list = append(list, r.Span)
				}
			}
		}
	}
	return list
}

// appendPrinted finds the lines of a number behind its name, "00:a1:..." with whatever before them,
// and answers where they end. A few lines may be something else.
func appendPrinted(list []Span, text string, i int) ([]Span, int) {
	odd, end := 0, i
	for i < len(text) && odd < 3 {
		line := text[i : i+len(lineAt(text, i))]
		start, stop := -1, 0
		for k := 0; k+1 < len(line); k++ {
			n := 0
			for k+n+1 < len(line) && hexAny[line[k+n]] && hexAny[line[k+n+1]] && (k+n+2 >= len(line) || line[k+n+2] == ':' || line[k+n+2] == '\r' || line[k+n+2] == ' ') {
				n += 3
			}
			if n >= 12 {
				start, stop = k, k+n-1
				break
			}
			k += max(0, n-1)
		}
		switch trimmed := strings.TrimRight(line, " \t\r"); {
		case start >= 0:
			list, odd, end = append(list, Span{i + start, i + stop}), 0, i+stop
		case strings.TrimSpace(line) == "":
		case strings.HasSuffix(trimmed, ":") || strings.HasPrefix(trimmed, "-----"):
			return list, max(end, i)
		default:
			odd++
		}
		i += len(line) + 1
	}
	return list, end
}
