package mask

import "strings"

// assigned are names whose values are keys if they look it: length letters of the
// set, by chance.
var assigned = []struct {
	name   string
	of     *set
	length int
}{
	{"ecret_access_key", base64Set, 40}, {"ecretAccessKey", base64Set, 40}, {"ECRET_ACCESS_KEY", base64Set, 40}, {"ecret-access-key", base64Set, 40}, // Amazon
	{"ws_secret_key", base64Set, 40}, {"WS_SECRET_KEY", base64Set, 40}, {"wsSecretKey", base64Set, 40},
	{"AccountKey", base64Set, 88}, {"SharedAccessKey", base64Set, 44}, // Azure
	{"PrivateKey", base64Set, 44}, {"PresharedKey", base64Set, 44}, // WireGuard
}

// issued are names that say whose key their value is, in small letters and without what
// separates words: the issuer draws length letters of the set. Where dashes is set, it is
// a UUID.
var issued = []struct {
	name   string
	of     *set
	length int
	dashes bool
}{
	{"twilioauthtoken", hex, 32, false}, {"datadogapikey", hex, 32, false}, {"ddapikey", hex, 32, false}, {"datadogappkey", hex, 40, false}, {"ddappkey", hex, 40, false},
	{"cloudflareapikey", hex, 37, false}, {"cloudflareapitoken", word, 40, false}, {"cfapitoken", word, 40, false}, {"fastlyapitoken", word, 32, false}, {"fastlyapikey", word, 32, false},
	{"sentryauthtoken", hex, 64, false}, {"circletoken", hex, 40, false}, {"circlecitoken", hex, 40, false}, {"snyktoken", hexDash, 36, true}, {"herokuapikey", hexDash, 36, true},
	{"oktaapitoken", word, 42, false}, {"oktatoken", word, 42, false}, {"mailgunapikey", hex, 32, false},
	{"wandbapikey", hex, 40, false}, {"hcloudtoken", alnum, 64, false}, {"linodetoken", hex, 64, false}, {"scwsecretkey", hexDash, 36, true}, {"codecovtoken", hexDash, 36, true}, {"rollbaraccesstoken", hex, 32, false},
	{"verceltoken", alnum, 24, false}, {"algoliaadminapikey", hex, 32, false}, {"algoliaadminkey", hex, 32, false}, {"pineconeapikey", hexDash, 36, true}, {"togetherapikey", hex, 64, false}, {"assemblyaiapikey", hex, 32, false},
	{"exaapikey", hexDash, 36, true}, {"railwaytoken", hexDash, 36, true}, {"azureopenaiapikey", hex, 32, false}, {"azureopenaikey", hex, 32, false}, {"trellotoken", hex, 64, false}, {"githubtoken", hex, 40, false}, {"ghtoken", hex, 40, false},
	{"npmtoken", hexDash, 36, true}, {"sonartoken", hex, 40, false}, {"digitaloceantoken", hex, 64, false}, {"doapitoken", hex, 64, false}, {"coverallsrepotoken", alnum, 32, false}, {"travistoken", alnum, 22, false},
	{"slacksigningsecret", hex, 32, false}, {"slackclientsecret", hex, 32, false}, {"githubclientsecret", hex, 40, false}, {"facebookappsecret", hex, 32, false}, {"fbappsecret", hex, 32, false}, {"spotifyclientsecret", hex, 32, false},
	{"discordclientsecret", word, 32, false}, {"twitchclientsecret", alnum, 30, false}, {"twitterconsumersecret", alnum, 50, false}, {"twitterapisecret", alnum, 50, false}, {"auth0clientsecret", word, 64, false},
	{"cohereapikey", alnum, 40, false}, {"mistralapikey", alnum, 32, false}, {"deepgramapikey", hex, 40, false},
}

// plainName is a name in small letters without what separates its words.
var plainName = strings.NewReplacer("_", "", "-", "")

// appendIssued judges what is assigned to a name that says whose key it is.
func appendIssued(list []Span, text string, start, end int) []Span {
	const longest = 40
	name := text[max(start, end-longest):end]
	if len(name) < minRun {
		return list
	}
	if tail := strings.ToLower(name[len(name)-3:]); tail != "key" && tail != "ken" && tail != "ret" {
		return list
	}
	name = plainName.Replace(strings.ToLower(name))
	for _, k := range issued {
		if !strings.HasSuffix(name, k.name) {
			continue
		}
		from, to := valueAfter(text, end, end+k.length+12)
		value := text[from:to]
		if len(value) != k.length || !consists(value, k.of) || !random(value) || worded(value) {
			continue
		}
		if k.of != hex && !k.dashes && !mixed(value) || k.dashes && !isUUID(value) {
			continue
		}
		return append(list, Span{from, to})
	}
	return list
}

// isUUID answers whether letters of hexDash are one.
func isUUID(s string) bool {
	return len(s) == 36 && strings.Count(s, "-") == 4 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}

// signed are the keys of Azure's services, which bear their service's sign: so many letters
// of base64 stand before it and after it.
var signed = []struct {
	sign          string
	before, after int
}{
	{"+ASt", 76, 8}, {"+ABa", 76, 8}, {"ACDb", 76, 8}, // Storage, Batch, Cosmos DB
	{"+AEh", 33, 7}, {"+ASb", 33, 7}, {"+ARm", 33, 7}, {"AIoT", 33, 7}, // Event Hubs, Service Bus, Relay, IoT
	{"+ACR", 42, 6}, {"AzSe", 42, 6}, {"AzFu", 44, 8}, // Container Registry, Search, Functions
}

// appendSigned finds such keys, whatever name they are assigned to.
func appendSigned(list []Span, text string) []Span {
	for _, k := range signed {
		for at := 0; ; {
			i := strings.Index(text[at:], k.sign)
			if i < 0 {
				break
			}
			i += at
			at = i + len(k.sign)
			from, to := i-k.before, at+k.after
			if from < 0 || to > len(text) || from > 0 && base64Set[text[from-1]] && text[from-1] != '=' || to < len(text) && base64Set[text[to]] {
				continue
			}
			if key := text[from:to]; consists(strings.TrimRight(key, "="), base64Plain) && mixed(key) {
				list = append(list, Span{from, to})
			}
		}
	}
	return list
}

// appendAssigned judges what is assigned to the name text[start:end].
func appendAssigned(list []Span, text string, start, end int) []Span {
	list = appendIssued(list, text, start, end)
	for _, a := range assigned {
		if strings.HasSuffix(text[start:end], a.name) {
			from, to := valueAfter(text, end, end+a.length+12)
			if value := text[from:to]; len(value) == a.length && consists(value, a.of) && mixed(value) {
				list = append(list, Span{from, to})
			}
		}
	}
	return list
}

// keyNumbers are the members of a JSON Web Key that are private (RFC 7518).
var keyNumbers = map[string]bool{"d": true, "p": true, "q": true, "dp": true, "dq": true, "qi": true, "k": true}

// farMember is how far from the member "kty" another of the same key may stand.
const farMember = 1 << 13

// appendWebKeys finds the private members of JSON Web Keys, in JSON or as a program
// writes an object.
func appendWebKeys(list []Span, text string) []Span {
	done := 0
	for at := 0; ; {
		i := strings.Index(text[at:], "kty")
		if i < 0 {
			return list
		}
		i += at
		at = i + len("kty")
		if i > 0 && word[text[i-1]] || at < len(text) && word[text[at]] {
			continue
		}
		last := min(len(text), i+farMember)
		for j := max(done, i-farMember); j < last; j++ {
			if c := text[j]; c != ':' && c != '=' {
				continue
			}
			end := len(strings.TrimRight(text[:j], "\"'\\ \t"))
			start := end
			for start > 0 && word[text[start-1]] && end-start < 3 {
				start--
			}
			if !keyNumbers[text[start:end]] {
				continue
			}
			from, to := valueAfter(text, end, last)
			j = max(j, to-1)
			if value := text[from:to]; len(value) >= 32 && consists(value, word) && mixed(value) && !worded(value) {
				list = append(list, Span{from, to})
			}
		}
		done = last
	}
}

// appendGems finds the user and password of Sidekiq's gem server, eight digits each, in the
// address of the server or assigned to the name that Bundler knows it by.
func appendGems(list []Span, text string) []Span {
	const half, whole = 8, 17
	if !strings.Contains(text, "contribsys") && !strings.Contains(text, "CONTRIBSYS") {
		return list
	}
	is := func(i int) bool {
		return i >= 0 && i+whole <= len(text) && text[i+half] == ':' && consists(text[i:i+half], hex) && consists(text[i+half+1:i+whole], hex) &&
			(i == 0 || !alnum[text[i-1]]) && (i+whole == len(text) || !alnum[text[i+whole]]) && text[i:i+whole] != "cafebabe:deadbeef" // of every manual
	}
	for _, server := range []string{"gems.contribsys.com", "enterprise.contribsys.com", "GEMS__CONTRIBSYS__COM", "ENTERPRISE__CONTRIBSYS__COM"} {
		for at := 0; ; {
			i := strings.Index(text[at:], server)
			if i < 0 {
				break
			}
			i += at
			at = i + len(server)
			if from := i - whole - 1; is(from) && text[i-1] == '@' {
				list = append(list, Span{from, from + whole})
			}
			for from := at; from < at+16; from++ {
				if is(from) {
					list = append(list, Span{from, from + whole})
					break
				}
			}
		}
	}
	return list
}

// mixed is random for base64, where nothing else says that it is a key.
func mixed(value string) bool {
	return strings.ContainsAny(value, digits) && strings.ContainsAny(value, capitals) && strings.ContainsAny(value, smalls) && random(value)
}

// valueAfter is the value assigned to the name that ends at i, no further than last;
// empty if there is none.
func valueAfter(text string, i, last int) (from, to int) {
	const near = 32
	end := min(len(text), i+near)
	from = skipAssigning(text, i, end)
	for _, between := range betweenNameAndValue {
		if rest := text[from:end]; from > i && strings.HasPrefix(rest, between) {
			from = skipAssigning(text, from+len(between), end)
			break
		}
	}
	if from == i {
		return i, i
	}
	to = from
	for to < min(len(text), last+from-i) && (word[text[to]] || base64Set[text[to]]) {
		to++
	}
	return from, to
}

// betweenNameAndValue are words that may stand there: a type, or Kubernetes' member for
// what a variable of the environment is set to.
var betweenNameAndValue = []string{"string", "String", "str ", "str=", "&str", "&'static str", "value:", "\"value\":"}

// skipAssigning is where what assigns ends: quotes, brackets, signs, and the line's end
// before a member "value".
func skipAssigning(text string, i, end int) int {
	for i < end {
		switch c := text[i]; {
		case strings.IndexByte("\"'\\ \t:=>,([])|?", c) >= 0:
			i++
		case c == '-' && text[i-1] == ':': // ${NAME:-value}
			i++
		case c == '\n' && strings.HasPrefix(strings.TrimLeft(text[i:end], "\n \t\""), "value"):
			i += len(text[i:end]) - len(strings.TrimLeft(text[i:end], "\n \t"))
		default:
			return i
		}
	}
	return i
}

// appendSecretsOfIDs finds Amazon's secrets behind the identifiers that they belong to, as a
// program or a file of settings names both.
func appendSecretsOfIDs(list []Span, text string) []Span {
	const near = 160
	for _, kind := range []string{"AKIA", "ASIA"} {
		for at := 0; ; {
			i := strings.Index(text[at:], kind)
			if i < 0 {
				break
			}
			i += at
			at = i + len(kind)
			id := at
			for id < len(text) && base32[text[id]] {
				id++
			}
			if id-at != 16 {
				continue
			}
			for end := min(len(text), id+near); id < end; id++ {
				start := id
				for id < len(text) && base64Set[text[id]] {
					id++
				}
				if secret := text[start:id]; len(secret) == 40 && mixed(secret) && !worded(secret) {
					list = append(list, Span{start, id})
					break
				}
			}
		}
	}
	return list
}
