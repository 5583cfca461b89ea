package mask

import (
	"encoding/base64"
	"slices"
	"strings"
)

// token is how an issuer writes its tokens: what they begin with, and how many
// letters of which set follow at least and at most. What follows that, if anything
// must, is another one.
type token struct {
	prefix string
	body   *set
	least  int
	most   int
	then   *token
}

const unbounded = 1 << 11

// tokens are by their first letter. Each consists of word's letters up to its
// prefix's end and is at least minToken long.
var tokens = func() (by [256][]token) {
	for _, t := range []token{
		// Clouds and where programs run.
		{"AKIA", base32, 16, 16, nil}, {"ASIA", base32, 16, 16, nil}, {"ABIA", base32, 16, 16, nil}, {"ACCA", base32, 16, 16, nil}, {"ABSK", base64Set, 109, 272, nil}, {"bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t", base64Set, 40, unbounded, nil}, // Amazon
		{"AIza", word, 35, 35, nil}, {"GOCSPX-", word, 28, 28, nil}, {"LTAI", alnum, 20, 20, nil}, {"HRKU-", word, 60, 60, nil}, // Google, Alibaba, Heroku
		{"dop_v1_", hex, 64, 64, nil}, {"doo_v1_", hex, 64, 64, nil}, {"dor_v1_", hex, 64, 64, nil}, {"tk-us-", word, 48, 48, nil}, // DigitalOcean, Scalingo
		{"fo1_", word, 43, 43, nil}, {"fm2_", base64Set, 100, unbounded, nil}, {"fm1r_", base64Set, 100, unbounded, nil}, {"fm1a_", base64Set, 100, unbounded, nil}, {"nfp_", alnum, 36, 40, nil}, // Fly.io, Netlify
		{"pul-", hex, 40, 40, nil}, {"tskey-", word, 24, 90, nil}, {"dnkey-", word, 79, 79, nil}, {"sb_secret_", word, 30, 48, nil}, {"sbp_", hex, 40, 40, nil}, {"4b1d", alnum, 38, 38, nil}, // Pulumi, Tailscale, Supabase, ClickHouse
		{"cfut_", alnum, 40, 60, nil}, {"cfat_", alnum, 40, 60, nil}, {"cfk_", alnum, 40, 60, nil}, {"dapi", hex, 32, 32, nil}, {"pscale_tkn_", word, 32, 64, nil}, {"pscale_pw_", word, 32, 64, nil}, {"pscale_oauth_", word, 32, 64, nil}, // Cloudflare, Databricks, PlanetScale
		{"ico-", alnum, 32, 32, nil}, {"rnd_", alnum, 28, 32, nil}, {"napi_", alnum, 60, 70, nil}, {"mdb_sa_sk_", word, 40, 40, nil}, {"CCDB1_", word, 60, 70, nil}, {"cflt", base64Set, 60, 60, nil}, // Infracost, Render, Neon, MongoDB Atlas, CockroachDB, Confluent
		{"IQoJb3JpZ2lu", base64Set, 200, unbounded, nil}, {"FwoGZXIvYXdz", base64Set, 200, unbounded, nil}, {"sbp_v0_", hex, 40, 40, nil}, // Amazon's sessions, Supabase
		{"AKID", alnum, 32, 48, nil}, {"AQVN", word, 35, 38, nil}, {"API-", bytesOf(capitals + digits), 25, 26, nil}, {"pnu_", alnum, 36, 36, nil}, {"vercel_blob_rw_", word, 40, 60, nil}, {"vcp_", alnum, 24, 64, nil}, // Yandex, Octopus, Prefect, Vercel

		// Forges and registries.
		{"ghp_", alnum, 36, 36, nil}, {"gho_", alnum, 36, 36, nil}, {"ghu_", alnum, 36, 36, nil}, {"ghs_", alnum, 36, 36, nil}, {"ghr_", alnum, 36, 76, nil}, {"github_pat_", word, 82, 82, nil},
		{"glpat-", word, 20, 300, nil}, {"gldt-", word, 20, 64, nil}, {"glrt-", word, 20, 300, nil}, {"glrtr-", word, 20, 300, nil}, {"glptt-", hex, 40, 40, nil}, {"glcbt-", word, 20, 80, nil}, {"glagent-", word, 50, 50, nil}, {"gloas-", hex, 64, 64, nil},
		{"glft-", word, 20, 26, nil}, {"glsoat-", word, 20, 26, nil}, {"glimt-", word, 25, 25, nil}, {"glffct-", word, 20, 26, nil}, {"GR1348941", word, 20, 20, nil},
		{"ATATT3xFfGF0", word, 150, unbounded, nil}, {"ATCTT3xFfGN0", word, 150, unbounded, nil}, {"ATBB", alnum, 32, 32, nil}, {"CCIPAT_", word, 50, 80, nil}, {"CCIPRJ_", word, 50, 80, nil}, {"bkua_", hex, 40, 40, nil}, {"sgp_", word, 40, 64, nil},
		{"packagist_ort_", hex, 68, 68, nil}, {"packagist_out_", hex, 68, 68, nil}, {"packagist_uut_", hex, 68, 68, nil}, {"packagist_cut_", hex, 68, 68, nil}, {"packagist_ack_", hex, 20, 96, nil}, {"packagist_acs_", hex, 64, 96, nil},
		{"npm_", alnum, 36, 36, nil}, {"pypi-AgEIcHlwaS5vcmc", word, 50, unbounded, nil}, {"pypi-AgENdGVzdC5weXBpLm9yZw", word, 50, unbounded, nil}, {"rubygems_", hex, 48, 48, nil}, {"dckr_pat_", word, 27, 27, nil}, {"dckr_oat_", word, 27, 32, nil}, {"CLOJARS_", hex, 60, 60, nil},
		{"oy2", alnum, 43, 43, nil}, {"cio", alnum, 32, 32, nil}, {"AKCp", alnum, 69, 69, nil}, {"cmVmd", alnum, 59, 59, nil}, {"sqp_", hex, 40, 40, nil}, {"squ_", hex, 40, 40, nil}, {"sqa_", hex, 40, 40, nil}, // NuGet, crates.io, Artifactory, Sonar

		// Talk and work.
		{"xoxb-", word, 40, 80, nil}, {"xoxb-", bytesOf(digits), 8, 14, &token{"-", alnum, 18, 26, nil}}, {"xoxp-", word, 40, 180, nil}, {"xoxa-", word, 40, 80, nil}, {"xoxs-", word, 40, 80, nil}, {"xoxr-", word, 40, 80, nil}, {"xoxc-", word, 40, 120, nil}, {"xoxe-", word, 140, 180, nil}, {"xapp-1-", word, 60, 110, nil}, {"xoxd-", bytesOf(letters + digits + "_-%"), 100, 300, nil}, // Slack
		{"pat-na1-", hexDash, 36, 36, nil}, {"pat-na2-", hexDash, 36, 36, nil}, {"pat-eu1-", hexDash, 36, 36, nil}, {"sdk-", hexDash, 36, 36, nil}, {"ATTA", hex, 72, 72, nil}, {"sm_pat_", alnum, 16, 16, nil}, {"sm_aat_", alnum, 16, 16, nil}, {"s-s4t2ud-", hex, 64, 64, nil}, {"s-s4t2af-", hex, 64, 64, nil}, // HubSpot, LaunchDarkly, Trello, SettleMint, 42
		{"pk_", bytesOf(digits), 6, 10, &token{"_", bytesOf(capitals + digits), 32, 32, nil}}, {"CFPAT-", word, 43, 43, nil}, {"dG9rO", base64Set, 50, 60, nil}, // Contentful, Intercom
		{"lin_api_", alnum, 40, 40, nil}, {"lin_oauth_", hex, 64, 64, nil}, {"figd_", word, 40, 60, nil}, {"ntn_", alnum, 46, 46, nil}, {"secret_", alnum, 43, 43, nil}, {"tfp_", word, 44, 70, nil}, {"rdme_", alnum, 70, 70, nil}, // Linear, Figma, Notion, Typeform
		{"PMAK-", hex, 24, 24, &token{"-", hex, 34, 34, nil}}, {"fio-u-", word, 64, 64, nil}, {"waka_", word, 36, 36, nil}, {"p8e-", alnum, 32, 32, nil}, // Postman, Frame.io, WakaTime, Adobe
		{"SK", hex, 32, 32, nil}, {"xkeysib-", hex, 64, 64, &token{"-", alnum, 16, 16, nil}}, {"xsmtpsib-", hex, 64, 64, &token{"-", alnum, 16, 16, nil}}, {"re_", alnum, 8, 8, &token{"_", alnum, 24, 24, nil}}, // Twilio, Brevo, Resend

		// Models.
		{"sk-ant-", word, 80, 120, nil}, {"sk-proj-", word, 40, 200, nil}, {"sk-svcacct-", word, 40, 200, nil}, {"sk-admin-", word, 40, 200, nil}, {"sk-None-", word, 40, 200, nil}, {"sk-or-v1-", hex, 64, 64, nil}, {"sk-lf-", word, 36, 36, nil}, {"sk-", alnum, 48, 48, nil}, {"sk-", hex, 32, 32, nil}, {"sk_", hex, 48, 48, nil},
		{"hf_", alnum, 34, 34, nil}, {"api_org_", alnum, 34, 34, nil}, {"gsk_", alnum, 52, 52, nil}, {"xai-", alnum, 80, 80, nil}, {"nvapi-", word, 60, 80, nil}, {"pplx-", alnum, 48, 56, nil}, {"r8_", alnum, 37, 37, nil}, {"jina_", alnum, 60, 64, nil}, {"csk-", alnum, 48, 48, nil}, {"tvly-", word, 32, 50, nil},
		{"tgp_v1_", word, 43, 43, nil}, {"fw_", alnum, 24, 24, nil}, {"pcsk_", word, 60, 80, nil}, {"rpa_", alnum, 44, 50, nil}, {"apify_api_", alnum, 36, 40, nil}, {"fc-", hex, 32, 32, nil}, {"bb_live_", word, 27, 40, nil}, {"e2b_", hex, 40, 40, nil}, // Together, Fireworks, Pinecone, RunPod, Apify, Firecrawl, Browserbase, E2B
		{"lsv2_pt_", hex, 32, 32, &token{"_", hex, 10, 10, nil}}, {"lsv2_sk_", hex, 32, 32, &token{"_", hex, 10, 10, nil}},

		// Money and post.
		{"sk_live_", alnum, 24, 120, nil}, {"rk_live_", alnum, 24, 120, nil}, {"sk_test_", alnum, 24, 120, nil}, {"rk_test_", alnum, 24, 120, nil}, {"mk_live_", alnum, 24, 120, nil}, {"mk_test_", alnum, 24, 120, nil}, {"sk_org_live_", alnum, 24, 120, nil}, {"sk_org_test_", alnum, 24, 120, nil}, {"whsec_", base64Set, 32, 64, nil}, // Stripe
		{"shpat_", hex, 32, 32, nil}, {"shpca_", hex, 32, 32, nil}, {"shppa_", hex, 32, 32, nil}, {"shpss_", hex, 32, 32, nil}, {"shippo_live_", hex, 40, 40, nil}, {"shippo_test_", hex, 40, 40, nil},
		{"sq0atp-", word, 22, 22, nil}, {"sq0csp-", word, 43, 43, nil}, {"EAAA", word, 60, 60, nil}, {"EAAM", alnum, 100, 300, nil}, {"EAAC", alnum, 100, 300, nil}, {"EAAB", alnum, 100, 300, nil}, {"EAAG", alnum, 100, 300, nil}, // Square, Meta
		{"EZAK", alnum, 54, 54, nil}, {"EZTK", alnum, 54, 54, nil}, {"duffel_live_", word, 43, 43, nil}, {"duffel_test_", word, 43, 43, nil}, {"FLWSECK_TEST-", word, 34, 40, nil}, {"FLWSECK-", word, 34, 48, nil}, {"live_", hex, 35, 35, nil}, {"live_", alnum, 30, 30, nil}, // the last Mollie's
		{"access-production-", hexDash, 36, 36, nil}, {"access-sandbox-", hexDash, 36, 36, nil}, {"pdl_live_apikey_", word, 50, 60, nil}, {"pdl_sdbx_apikey_", word, 50, 60, nil}, // Plaid, Paddle

		// What watches, and what keeps.
		{"glsa_", alnum, 32, 32, &token{"_", alnum, 8, 8, nil}}, {"glc_", base64Set, 60, 400, nil}, {"NRAK-", alnum, 27, 27, nil}, {"NRII-", word, 32, 32, nil}, {"NRRA-", hex, 42, 42, nil}, // Grafana, New Relic
		{"sntryu_", hex, 64, 64, nil}, {"sntrys_eyJ", bytesOf(letters + digits + "+/=_-"), 100, 600, nil}, {"phx_", alnum, 40, 60, nil}, {"slk_", hex, 64, 64, nil}, // Sentry, PostHog
		{"eyJrIjoi", base64Set, 60, 400, nil}, {"hcaik_", alnum, 58, 58, nil}, {"xaat-", hexDash, 36, 36, nil}, {"xapt-", hexDash, 36, 36, nil}, // Grafana's of old, Honeycomb, Axiom
		{"ops_eyJ", base64Set, 250, unbounded, nil}, {"A3-", bytesOf(capitals + digits + "-"), 36, 37, nil}, {"AGE-SECRET-KEY-1", alnum, 58, 58, nil}, // 1Password, age
	} {
		by[t.prefix[0]] = append(by[t.prefix[0]], t)
	}
	return by
}()

// begins has the first two letters of the tokens: nearly no two letters of a text are.
var begins = func() (pairs [1 << 10]uint64) {
	for _, kinds := range tokens {
		for _, t := range kinds {
			pair := uint(t.prefix[0])<<8 | uint(t.prefix[1])
			pairs[pair>>6] |= 1 << (pair & 63)
		}
	}
	return pairs
}()

// pointed are tokens with another letter than word's before their body: what stands
// before it, and the token from there.
var pointed = []struct {
	before string
	token
}{
	{"SG.", token{"", word, 22, 22, &token{".", word, 43, 43, nil}}},                                                                                                              // SendGrid
	{"hvs.", token{"", word, 90, 300, nil}}, {"hvb.", token{"", word, 138, unbounded, nil}}, {"hvr.", token{"", word, 90, 300, nil}}, {".atlasv1.", token{"", word, 60, 70, nil}}, // HashiCorp
	{"dp.pt.", token{"", alnum, 40, 44, nil}}, {"dp.ct.", token{"", alnum, 40, 44, nil}}, {"dp.sa.", token{"", alnum, 40, 44, nil}}, {"dp.st.", token{"", alnum, 40, 44, nil}}, // Doppler
	{"dp.st.dev.", token{"", alnum, 40, 44, nil}}, {"dp.st.stg.", token{"", alnum, 40, 44, nil}}, {"dp.st.prd.", token{"", alnum, 40, 44, nil}}, {"dp.scim.", token{"", alnum, 40, 44, nil}}, {"dp.audit.", token{"", alnum, 40, 44, nil}},
	{"ya29.", token{"", word, 60, unbounded, nil}}, {"1//", token{"0", word, 60, 200, nil}}, {"sl.", token{"", word, 130, unbounded, nil}}, {"sl.u.", token{"", word, 100, unbounded, nil}}, // Google, Dropbox
	{"AQ.", token{"Ab8RN6", word, 40, 60, nil}}, {"mfa.", token{"", word, 84, 84, nil}}, {"amzn1.oa2-cs.v1.", token{"", hex, 64, 64, nil}}, // a user of Discord, Amazon's OAuth
	{"dt0c01.", token{"", alnum, 24, 24, &token{".", alnum, 64, 64, nil}}}, {"dt0s16.", token{"", alnum, 24, 24, &token{".", alnum, 64, 64, nil}}}, // Dynatrace
	{"pat.", token{"", word, 22, 22, &token{".", alnum, 24, 24, &token{".", alnum, 20, 20, nil}}}}, {"sat.", token{"", word, 22, 22, &token{".", alnum, 24, 24, &token{".", alnum, 20, 20, nil}}}}, // Harness
	{"v1.", token{"0-", hex, 24, 24, &token{"-", hex, 146, 146, nil}}}, {"sha256~", token{"", word, 43, 43, nil}}, {"sk.", token{"eyJ", word, 40, 200, &token{".", word, 20, 24, nil}}}, // Cloudflare, OpenShift, Mapbox
	{"0.", token{"", hexDash, 36, 36, &token{".", alnum, 30, 30, &token{":", base64Set, 22, 24, nil}}}}, {"access_token$production$", token{"", alnum, 16, 16, &token{"$", hex, 32, 32, nil}}}, // Bitwarden, Braintree
	{"st.", token{"", hexDash, 36, 36, &token{".", hex, 32, 32, &token{".", hex, 32, 32, nil}}}}, // Infisical
}

// hooks begin the addresses at which whoever has one may write: what follows in them
// and is drawn by chance is their key.
var hooks = []string{
	"hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", ".webhook.office.com/webhookb2/", "oapi.dingtalk.com/robot/send?", "open.feishu.cn/open-apis/bot/v2/hook/",
	"discord.com/api/v6/webhooks/", "discord.com/api/v7/webhooks/", "discord.com/api/v8/webhooks/", "discord.com/api/v9/webhooks/", "discord.com/api/v10/webhooks/",
	"qyapi.weixin.qq.com/cgi-bin/webhook/send?", "maker.ifttt.com/", "chat.googleapis.com/v1/spaces/",
}

const (
	// minToken is the shortest token, Amazon's.
	minToken = 20
	// minRun is the shortest name of assigned.
	minRun = 10
	// sure is how long a prefix that ends with a separator must be to stand for a
	// token within a word, too: TOKENghp_...
	sure = 4
	// farAddress is how far behind the beginning of an address its key is looked for.
	farAddress = 160
)

// appendRuns finds the runs of word's letters that are long enough, tokens and
// names to which keys are assigned. It looks at one letter of minRun where there is
// none.
func appendRuns(list []Span, text string) []Span {
	for i := 0; i+minRun <= len(text); {
		probe := i + minRun - 1
		if !word[text[probe]] {
			i = probe + 1
			continue
		}
		start, end := probe, probe+1
		for start > i && word[text[start-1]] {
			start--
		}
		for end < len(text) && word[text[end]] {
			end++
		}
		if end-start >= minToken || end < len(text) && strings.IndexByte("+/%$", text[end]) >= 0 { // in base64, and where letters are escaped, a run may be short
			list = appendTokens(list, text, start, end)
		}
		switch text[end-1] {
		case 'y', 'Y', 'n', 'N', 't', 'T':
			list = appendAssigned(list, text, start, end)
		}
		i = end + 1
	}
	return list
}

// escape is how many letters behind before, the first of which is next, belong to an
// escape that ends in it: "\nghp_...", "\u0022ghp_...", %3Dghp_....
func escape(before string, next byte) int {
	switch {
	case strings.HasSuffix(before, "%"):
		return 2
	case !strings.HasSuffix(before, `\`):
		return 0
	case next == 'u':
		return 5
	case next == 'x':
		return 3
	}
	return 1
}

// afterEscape answers whether an escape ends at i of a text.
func afterEscape(text string, i int) bool {
	for n := 1; n <= min(i, 5); n++ {
		if escape(text[:i-n], text[i-n]) == n {
			return true
		}
	}
	return false
}

// appendTokens finds the tokens in one run: what begins it, and what stands within.
func appendTokens(list []Span, text string, start, end int) []Span {
	begin := min(start+escape(text[:start], text[start]), end-1)
	if s, ok := pointedAt(text, begin, end); ok {
		return append(list, s)
	}
	for i := start; i+1 < end; i++ {
		pair := uint(text[i])<<8 | uint(text[i+1])
		if begins[pair>>6]>>(pair&63)&1 == 0 {
			continue
		}
		for _, t := range tokens[text[i]] {
			if !strings.HasPrefix(text[i:end], t.prefix) {
				continue
			}
			last := len(t.prefix) - 1
			if i != start && i != begin && !separator[text[i-1]] && (last+1 < sure || !separator[t.prefix[last]]) {
				continue
			}
			if to, ok := t.ends(text, i); ok && !(t.isLikeAHash() && namesFile(text[to:])) {
				list = append(list, Span{i + len(t.prefix), to})
				i = to - 1
				break
			}
		}
	}
	return list
}

// isLikeAHash answers whether a token is written as programs that bundle others name the pieces: a
// short name or a language, and 32 letters of a hash. "sk" is Slovak.
func (t token) isLikeAHash() bool { return len(t.prefix) <= sure && t.least == 32 && t.most == 32 }

// fileSuffixes are what the names of such pieces end with.
var fileSuffixes = []string{"js", "mjs", "cjs", "css", "json", "map", "chunk", "bundle", "min", "module", "esm", "html", "wasm", "svg", "png", "jpg", "jpeg", "webp", "avif", "gif", "ico", "woff", "woff2", "ttf"}

// namesFile answers whether the rest of a text begins with the end of a file's name.
func namesFile(rest string) bool {
	if !strings.HasPrefix(rest, ".") {
		return false
	}
	end := 1
	for end < len(rest) && word[rest[end]] {
		end++
	}
	return slices.Contains(fileSuffixes, rest[1:end])
}

// broken are the tokens whose first letters may have one that is none of word's so soon that
// appendRuns, which looks at one letter of minRun, does not meet them.
var broken = func() (list []token) {
	for _, kinds := range tokens {
		for _, t := range kinds {
			if len(t.prefix) < minRun && (t.body['+'] || t.body['%']) {
				list = append(list, t)
			}
		}
	}
	return list
}()

// appendBroken finds them.
func appendBroken(list []Span, text string) []Span {
	for _, t := range broken {
		for at := 0; ; {
			i := strings.Index(text[at:], t.prefix)
			if i < 0 {
				break
			}
			i += at
			at = i + len(t.prefix)
			begins := i == 0 || !alnum[text[i-1]] || len(t.prefix) >= sure && separator[t.prefix[len(t.prefix)-1]]
			if to, ok := t.ends(text, i); ok && (begins || afterEscape(text, i)) {
				list, at = append(list, Span{at, to}), to
			}
		}
	}
	return list
}

// ends answers where a token that may begin at i ends, if it is one.
func (t token) ends(text string, i int) (end int, ok bool) {
	from := i + len(t.prefix)
	if !strings.HasPrefix(text[i:], t.prefix) {
		return 0, false
	}
	to := from
	for to < len(text) && to-from <= t.most && t.body[text[to]] {
		to++
	}
	if to-from > t.most { // a word may go on behind a separator: AIza..._old
		for to--; to-from > t.least && !separator[text[to]]; to-- {
		}
	}
	body := text[from:to]
	if len(body) < t.least || to < len(text) && t.then == nil && alnum[text[to]] {
		return 0, false
	}
	if t.then != nil {
		if to, ok = t.then.ends(text, to); !ok {
			return 0, false
		}
		body = text[from:to]
	}
	// Twenty capitals may be a constant's name; of Amazon's identifiers one in thirty has no digit.
	return to, (random(body) || lastRandom(body)) && !worded(body) && (t.body != base32 || strings.ContainsAny(body, digits))
}

// lastRandom is random for what stands behind a value's last separator if that is long enough for
// a key: before it there may be the numbers of an account, which chance has not drawn.
func lastRandom(value string) bool {
	part := value[strings.LastIndexAny(value, "-_")+1:]
	return len(part) >= minToken && random(part)
}

// pointedAt judges a run by what stands before it, and what begins with its own
// description.
func pointedAt(text string, start, end int) (s Span, ok bool) {
	run := text[start:end]
	before := text[max(0, start-farAddress):start]
	last := byte(' ')
	if before != "" {
		last = before[len(before)-1]
	}
	if strings.HasPrefix(run, "eyJ") {
		if s, ok = webToken(text, start, end); ok {
			return s, true
		}
		if s, ok = tunnel(text, start); ok {
			return s, true
		}
	}
	switch last {
	case '.', '~', '/', '=', '$':
		for _, p := range pointed {
			if strings.HasSuffix(before, p.before) && !continues(before, len(before)-len(p.before)) {
				if to, ok := p.ends(text, start); ok {
					return Span{start + len(p.prefix), to}, true
				}
			}
		}
		if strings.HasSuffix(before, "sig=") {
			if len(run) == 43 && flow(before) && mixed(run) && !worded(run) {
				return Span{start, end}, true
			}
			return signature(text, start)
		}
		if len(run) >= minToken && hook(before) && strings.Trim(run, digits) != "" && random(run) && !worded(run) {
			return Span{start, end}, true
		}
		if id := before[max(0, len(before)-18):]; len(id) == 18 && len(run) == 64 && strings.HasPrefix(id, "pat") && consists(id[3:17], alnum) && consists(run, hex) && random(run) {
			return Span{start, end}, true // Airtable
		}
		if id := before[max(0, len(before)-18):]; len(id) == 18 && len(run) >= 60 && (strings.HasPrefix(id, "snyk_uat.") || strings.HasPrefix(id, "snyk_sat.")) && consists(id[9:17], hex) && random(run) {
			return Span{start, end}, true
		}
		if n := len(before); n >= 6 && strings.HasSuffix(before, "Q~") && strings.IndexByte(digits, before[n-3]) >= 0 {
			to := start
			for to < len(text) && (word[text[to]] || text[to] == '~' || text[to] == '.') {
				to++
			}
			if n := to - start; n >= 31 && n <= 34 && random(text[start:to]) {
				return Span{start, to}, true // Entra
			}
		}
	case ':':
		if len(run) == 35 && strings.HasPrefix(run, "AA") && random(run) && botID(before) {
			return Span{start, end}, true // Telegram
		}
		if len(run) == 32 && consists(run, hex) && random(run) && asanaID(before) {
			return Span{start, end}, true
		}
		if id := before[max(0, len(before)-12):]; len(id) == 12 && len(run) == 140 && strings.HasPrefix(id, "AAAA") && strings.HasPrefix(run, "APA91b") && random(run) {
			return Span{start, end}, true // Firebase's servers
		}
	}
	if end-start == 26 || end-start == 24 || end-start == 25 {
		return discordBot(text, start, end)
	}
	if n := len(run) - len(strings.TrimRight(run, digits)); n >= 1 && n <= 2 && len(run) == 35+n && run[32:35] == "-us" && consists(run[:32], hex) && random(run[:32]) {
		return Span{start, start + 32}, true // Mailchimp
	}
	return shaped(run, before, start)
}

// shaped judges a run by its form alone.
func shaped(run, before string, start int) (s Span, ok bool) {
	all := Span{start, start + len(run)}
	switch len(run) {
	case 36:
		if key, found := strings.CutPrefix(run, "key-"); found && consists(key, hex) && random(key) && about(before, "mailgun", "api:", `"api", `, `'api', `) {
			return Span{start + len("key-"), all.End}, true
		}
	case 40:
		if key, found := strings.CutSuffix(run, "_mmk"); found && key[6] == '_' && random(key) && !worded(key) {
			return Span{start, start + len(key)}, true // MaxMind
		}
	case 42:
		if strings.HasPrefix(run, "00") && mixed(run) && !worded(run) && about(before, "SSWS", "okta") {
			return all, true
		}
	case 50:
		if run[32] == '-' && run[41] == '-' && consists(run[:32]+run[33:41]+run[42:], hex) && random(run) {
			return all, true // Mailgun
		}
	case 84:
		if (run[76:80] == "AZDO" || run[52:58] == "JQQJ99") && consists(run, alnum) && random(run) {
			return all, true // Azure DevOps, Azure's models and its like
		}
	}
	return s, false
}

// about answers whether the line before what follows it has one of the names.
func about(before string, names ...string) bool {
	line := strings.ToLower(before[strings.LastIndexByte(before, '\n')+1:])
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(line, strings.ToLower(name)) })
}

// continues answers whether what begins at i of before goes on a word.
func continues(before string, i int) bool {
	return before[i] != '.' && i > 0 && alnum[before[i-1]] && !afterEscape(before, i)
}

// hook answers whether before is part of the address of one.
func hook(before string) bool {
	address := before[strings.LastIndexAny(before, " \t\r\n\"'`<>(")+1:]
	return slices.ContainsFunc(hooks, func(h string) bool { return strings.Contains(address, h) })
}

// flow answers whether before is the address at which a flow of Teams or Azure is started, up to
// its signature.
func flow(before string) bool {
	address := before[strings.LastIndexAny(before, " \t\r\n\"'`<>(")+1:]
	return strings.Contains(address, "/triggers/") || strings.Contains(address, "triggers%2F") || strings.Contains(address, "triggers%2f")
}

// signature is that of an address of Azure's storage, at start: 32 bytes in base64 whose
// letters but those of alnum are escaped.
func signature(text string, start int) (s Span, ok bool) {
	to, n := start, 0
	for to < len(text) && n < 44 {
		switch c := text[to]; {
		case c == '%' && to+3 <= len(text):
			to += 3
		case base64Set[c]:
			to++
		default:
			return s, false
		}
		n++
	}
	value := text[start:to]
	if n < 44 || !strings.HasSuffix(value, "=") && !strings.HasSuffix(strings.ToUpper(value), "%3D") || !mixed(value) {
		return s, false
	}
	return Span{start, to}, true
}

// discordBot judges a run that may be the number of a bot of Discord, in base64, with
// the time and the key behind it.
func discordBot(text string, start, end int) (s Span, ok bool) {
	when, after := part(text, end)
	key, last := part(text, after)
	if len(when) != 6 || len(key) < 27 || len(key) > 38 || !random(key) || worded(key) {
		return s, false
	}
	id, err := base64.RawStdEncoding.DecodeString(text[start:end])
	if err != nil || strings.Trim(string(id), digits) != "" {
		return s, false
	}
	return Span{end + 1, last}, true
}

// botID answers whether 8 to 10 digits and a colon end before.
func botID(before string) bool {
	id, ok := strings.CutSuffix(before, ":")
	n := len(id) - len(strings.TrimRight(id, digits))
	return ok && n >= 8 && n <= 10
}

// asanaID answers whether what stands before a key of Asana's ends before: "1/1201234567890123:".
func asanaID(before string) bool {
	id := strings.TrimSuffix(before, ":")
	rest := strings.TrimRight(id, digits)
	version := strings.TrimSuffix(rest, "/")
	n := len(id) - len(rest)
	return n >= 13 && n <= 17 && len(version) == len(rest)-1 && version != "" && strings.IndexByte(digits, version[len(version)-1]) >= 0
}

func consists(s string, of *set) bool {
	for i := range len(s) {
		if !of[s[i]] {
			return false
		}
	}
	return true
}

// random answers whether a value may be drawn by chance: no example, no keys of a
// keyboard in their order, no letter again and again, nor each some times.
func random(value string) bool {
	if strings.Contains(value, "EXAMPLE") || strings.Contains(value, "example") {
		return false
	}
	var has set
	distinct, same, rising, pairs := 0, 1, 1, 0
	for i := range len(value) {
		c := value[i]
		if !has[c] {
			has[c] = true
			distinct++
		}
		if i == 0 {
			continue
		}
		same++
		if c != value[i-1] {
			same = 1
		} else {
			pairs++
		}
		rising++
		if c != value[i-1]+1 {
			rising = 1
		}
		if same == 6 || rising == 6 {
			return false
		}
	}
	return distinct >= min(len(value)/2, 8) && pairs <= len(value)/3
}

// worded answers whether a value is made of words, as the names of functions and the
// examples of manuals are: parts of one kind of letters with dashes between them, or
// words each of which may begin with a capital, with a digit or two among them.
func worded(value string) bool {
	parts := strings.FieldsFunc(value, func(r rune) bool { return r == '-' || r == '_' })
	plain := len(parts) > 2
	for _, p := range parts {
		plain = plain && (strings.Trim(p, digits) == "" || strings.Trim(p, capitals) == "" || strings.Trim(p[1:], smalls) == "" && alpha[p[0]])
	}
	if plain {
		return true
	}
	count := 0
	parts = strings.FieldsFunc(value, func(r rune) bool {
		if r >= '0' && r <= '9' {
			count++
		}
		return r == '-' || r == '_' || r >= '0' && r <= '9'
	})
	if count > 2 {
		return false
	}
	const shortest = 3.5 // letters a word, on the average: what chance draws changes more often
	words, total := 0, 0
	for _, p := range parts {
		total += len(p)
		for ; len(p) > 0; words++ {
			n := len(p[1:]) - len(strings.TrimLeft(p[1:], smalls))
			if n == 0 {
				return false
			}
			p = p[1+n:]
		}
	}
	return float64(total) >= shortest*float64(words)
}
