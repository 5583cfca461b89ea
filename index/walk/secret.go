package walk

import (
	"path"
	"slices"
	"strings"

	"quarry/index/lang"
)

// IsSecret answers whether a file, its path with slashes, is likely to hold keys
// or credentials by its name or by a folder it is in. No file of the workspace can
// change it. What the lists take and what they leave is told in docs/secrets.md and
// held by TestSecretNames. A name that some disk takes for another is secret as either.
func IsSecret(name string) bool {
	return isSecret(name) || folds(name) && isSecret(Fold(name))
}

func isSecret(name string) bool {
	for i := 0; ; {
		slash := strings.IndexByte(name[i:], '/')
		if slash < 0 {
			return secretFile(name)
		}
		if secretFolder(name[:i+slash]) {
			return true
		}
		i += slash + 1
	}
}

// secretEntry is IsSecret for a path whose parents are not secret.
func secretEntry(rel string, dir bool) bool {
	judge := secretFile
	if dir {
		judge = secretFolder
	}
	return judge(rel) || folds(rel) && judge(Fold(rel))
}

// secretFolder judges the last component as a folder. Words mean less here: a
// folder "secrets" is as likely to hold the source of a package of that name.
func secretFolder(rel string) bool {
	parent, base := lastTwo(rel)
	return secretFolders[base] || secretPlaces[parent+"/"+base] || strings.HasPrefix(base, ".env") && !strings.HasPrefix(base, ".envoy") && !strings.HasPrefix(base, ".environment")
}

// secretFile judges the last component as a file.
func secretFile(rel string) bool {
	parent, base := lastTwo(rel)
	base = strings.TrimRight(withoutCopy(base), ". ")
	if parent == "bin" && path.Ext(base) == "" && plainPrograms[base] {
		return false
	}
	dotExt := path.Ext(base)
	ext := strings.TrimPrefix(dotExt, ".")
	for _, prefix := range secretPrefixes {
		if strings.HasPrefix(base, prefix) && !isProgram(base[len(prefix):], ext, prefix[0] == '.') {
			return true
		}
	}
	switch {
	case secretNames[base], secretExts[ext], secretPlaces[parent+"/"+base], strings.Contains(base, ".tfstate"),
		strings.HasSuffix(base, ".tfvars.json"), strings.HasSuffix(base, "wallet.dat"), strings.HasSuffix(base, "-keypair.json"), strings.HasSuffix(base, ".pem.txt"), strings.HasSuffix(base, ".key.txt"),
		strings.HasPrefix(base, ".") && strings.HasSuffix(base, "_history"),
		base == "gradle.properties" && parent == "", // elsewhere it is a module's
		base == "mcp.json" && isHidden(rel, parent), // of an editor or an assistant, with the keys of its servers
		ext == "asc" && (base == "private.asc" || base == "secring.asc" || base == "sec.asc"),
		ext == "conf" && isTunnel(parent, base),
		ext == "txt" && strings.HasPrefix(base, "bitlocker"), // keys that Windows saves
		strings.HasPrefix(base, "utc--"),                     // how wallets of Ethereum name a key
		ext == "csv" && (holdsAccessKey(base) || strings.Contains(base, "credential")):
		return true
	case sourceExts[ext], strings.HasSuffix(base, ".schema.json"):
		return false // credentials.go is source code
	case wordExts[ext] && below(rel, localeFolders):
		return false // what users are told about secrets
	case secretOrWords[base] && !below(rel, wordFolders) && !(shownWords[base] && below(rel, shownFolders)), inSecretFolder(rel, base),
		strings.Contains(base, "firebase-adminsdk"), below(rel, accountFolders) && !publicNames[base] && !isDeployment(base, ext):
		return true
	}
	stem, _, _ := strings.Cut(strings.TrimPrefix(base, "."), ".")
	if strings.HasPrefix(stem, "client_secret") || strings.HasPrefix(stem, "client-secret") {
		return true
	}
	// In YAML a service account is an object of Kubernetes, without its key.
	if ext == "json" && strings.Contains(strings.NewReplacer("-", "", "_", "").Replace(stem), "serviceaccount") && !harmlessFirst[firstWord(stem)] {
		return true
	}
	if dotExt == base { // ".aws-credentials" has no extension
		return secretStems[stem] || secretAlone[singular(stem)] || secretLast[singular(stem)] || secretWords(base, "")
	}
	if (ext == "" || ext == "txt") && (secretAlone[singular(stem)] || secretLast[singular(stem)] || ext != "" && secretTexts[singular(stem)]) {
		return true
	}
	if second, _, _ := strings.Cut(strings.TrimPrefix(base, stem+"."), "."); stem == "env" && base != stem && (stages[second] || second == "example" || second == "sample" || second == "template") {
		return true // env.prod
	}
	return secretStems[stem] || secretWords(strings.TrimSuffix(base, dotExt), ext)
}

// isProgram answers whether a name that begins as a secret's goes on with rest as one of source code:
// id_rsa_test.py, .env_parser.py, .env.d.ts. What follows ".env." may be a stage or a country
// (.env.ru), and some languages write down the environment itself, as .env.js, .env.local.php and
// .env.sh do.
func isProgram(rest, ext string, environment bool) bool {
	if !environment {
		return codeExts[ext]
	}
	if strings.HasPrefix(rest, ".") {
		return compiledExts[ext]
	}
	words := strings.FieldsFunc(strings.TrimSuffix(rest, "."+ext), func(r rune) bool { return strings.ContainsRune("-_. ", r) })
	return codeExts[ext] && !shellExts[ext] && !slices.ContainsFunc(words, func(w string) bool { return stages[w] })
}

// isDeployment answers whether a file below an account's folder says how something is built or
// deployed: the account's own programs write no YAML there.
func isDeployment(base, ext string) bool {
	return ext == "yml" || ext == "yaml" || ext == "json" && (strings.HasPrefix(base, "task-def") || strings.HasPrefix(base, "taskdef") || base == "azuredeploy.json") || strings.HasPrefix(base, ".git")
}

// isHidden answers whether a file's folder, or the one around it, is hidden: .kiro/settings.
func isHidden(rel, parent string) bool {
	above, _ := lastTwo(path.Dir(rel))
	return strings.HasPrefix(parent, ".") || strings.HasPrefix(above, ".")
}

// isTunnel answers whether a .conf is WireGuard's, which names its interfaces and peers so.
func isTunnel(parent, base string) bool {
	if rest, ok := strings.CutPrefix(base, "wg"); ok && strings.IndexByte("0123456789-_.", rest[0]) >= 0 {
		return true
	}
	return strings.Contains(base, "wireguard") || parent == "wg_confs" || strings.HasPrefix(parent, "peer") && strings.HasPrefix(base, "peer")
}

// holdsAccessKey answers whether a table is what Amazon's console gives.
func holdsAccessKey(base string) bool {
	base = strings.NewReplacer("_", "", "-", "").Replace(base)
	return strings.Contains(base, "accesskey") || strings.HasPrefix(base, "rootkey")
}

// secretWords judges a name of several words: "db-credentials.json" holds some,
// "rotate-credentials.yml" says what is done.
func secretWords(name, ext string) bool {
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. ()", r) })
	switch {
	case exportExts[ext] && isExport(words, ext):
		return true
	case len(words) < 2 || harmlessFirst[words[0]]:
		return false
	}
	last := singular(words[len(words)-1])
	switch {
	case ext == "" || ext == "txt":
		before := words[len(words)-2]
		return secretLast[last] || secretAlone[last] && words[0] != "authorized" || last == "code" && codeKinds[before] || phraseEnds[last] && phraseKinds[before]
	case ext == "csv" && last == "login":
		return true
	case dataExts[ext]:
		return secretLast[last] || secretFirst[singular(words[0])] && (stages[last] || stages[words[1]] || last == "config") ||
			ext == "json" && (words[len(words)-1] == "key" && keyKinds[words[len(words)-2]] || last == "token" && tokenKinds[words[len(words)-2]])
	case ext == "asc": // a key of OpenPGP as text; signatures and public keys are, too
		return words[0] == "private" || words[0] == "secret" || last == "private" || last == "secret" || last == "sec"
	}
	return false
}

// isExport answers whether a name says that a password manager wrote the file, or that what
// one keeps was exported: "1PasswordExport-2026.csv", "bw-export.json". A table of a manager's
// is one without saying so; "keeper_config.xml" and "metamask-logo.json" are other things.
func isExport(words []string, ext string) bool {
	by, of, saved := false, false, false
	for i, w := range words {
		rest := w
		for _, m := range managers {
			if after, ok := strings.CutPrefix(w, m); ok && (after == "" || savedAs(after)) {
				by, rest = by || i == 0 || after != "" || !ambiguous[m], after
				saved = saved || ext == "csv" && !ambiguous[m]
				break
			}
		}
		of = of || exportOf[singular(w)]
		saved = saved || savedAs(rest)
	}
	return by && saved || of && slices.Contains(words, "export")
}

// savedAs answers whether a word says that data was taken out of where it belongs, and when.
func savedAs(word string) bool {
	return slices.ContainsFunc(savedWords, func(s string) bool { return strings.HasPrefix(word, s) }) || len(word) >= len("2026") && strings.Trim(word, "0123456789") == ""
}

// inSecretFolder answers whether a file is a value in a folder that is there to hold
// them: secrets/prod, config/secrets/db.json. Below the folders of source code such
// a folder is a package, whose files are judged by their own names.
func inSecretFolder(rel, base string) bool {
	return below(rel, valueFolders) && !below(rel, codeFolders) && !publicNames[base] &&
		!harmlessFirst[firstWord(base)] && !strings.HasPrefix(base, ".git")
}

func firstWord(base string) string {
	if i := strings.IndexAny(base, "-_. "); i >= 0 {
		return base[:i]
	}
	return base
}

// below answers whether rel is below a folder of the list.
func below(rel string, list map[string]bool) bool {
	for {
		part, rest, ok := strings.Cut(rel, "/")
		if !ok {
			return false
		}
		if list[strings.ToLower(part)] {
			return true
		}
		rel = rest
	}
}

// singular is a word of the tables below without the s of its plural.
func singular(word string) string {
	if strings.HasSuffix(word, "ss") { // pass
		return word
	}
	return strings.TrimSuffix(word, "s")
}

// lastTwo answers the last component and the folder it is in, "" if rel names none,
// in lower case. Windows takes a name with blanks or dots at its end for the one
// without.
func lastTwo(rel string) (parent, base string) {
	rel = strings.TrimRight(rel, ". ")
	slash := strings.LastIndexByte(rel, '/')
	if slash < 0 {
		return "", strings.ToLower(rel)
	}
	return strings.ToLower(rel[strings.LastIndexByte(rel[:slash], '/')+1 : slash]), strings.ToLower(rel[slash+1:])
}

// withoutCopy takes off what editors and people put around the name of a file when
// they keep a copy of it.
func withoutCopy(base string) string {
	base = strings.Trim(base, "#~")
	for {
		ext := path.Ext(base)
		if !copyExts[ext] || ext == base {
			return base
		}
		base = strings.TrimRight(strings.TrimSuffix(base, ext), "~#. ") // key#..bak
	}
}

func setOf(list string) map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(list) {
		m[s] = true
	}
	return m
}

var (
	// secretFolders hold nothing but what belongs to an account or a machine.
	secretFolders = setOf(".ssh .gnupg .oci .pulumi .password-store .secrets .credentials .gcloud .kaggle .openai .anthropic .stripe .railway .copilot .near-credentials .bluemix .sfdx .cloudflared .runpod .tccli")
	// accountFolders hold that, too, and in a repository how it is deployed.
	accountFolders = setOf(".aws .azure")
	// valueFolders hold values, unless codeFolders are above them.
	valueFolders = setOf("secret secrets credential credentials .environment .environments")
	codeFolders  = setOf(`internal pkg src lib libs packages crates cmd app apps api components modules vendor node_modules test tests testdata fixtures e2e
		docs doc examples controllers templates plugins locales i18n lang translations messages`)
	// publicNames are in any folder what they are.
	publicNames = setOf(`package.json package-lock.json tsconfig.json jsconfig.json cargo.toml cargo.lock pyproject.toml go.mod go.sum composer.json kustomization.yaml
		kustomization.yml chart.yaml readme readme.txt license license.txt notice makefile dockerfile build owners codeowners .dockerignore .quarryignore .editorconfig
		project.json manifest.json index.json`)
	// localeFolders hold words that people are shown, in files of wordExts.
	localeFolders = setOf("locale locales _locales i18n l10n lang langs language languages translation translations messages nls intl localization localizations localisation")
	wordExts      = setOf("json json5 jsonc yml yaml toml ini csv tsv xml properties plist edn")
	// wordFolders hold the screens of a program's settings, what a web server shows, or steps
	// of a job.
	wordFolders = setOf("res resources public workflows tasks handlers")
	// secretOrWords are secret but in wordFolders.
	secretOrWords = setOf(`auth.json oauth.json oauth2.json token.json password.json logins.json login.json wallet.json wallets.json bitwarden.json lastpass.json
		auth.toml mnemonic.json mnemonics.json privatekey.json accesstoken.json accesstokens.json cookies.json password.yml password.yaml password.csv password.ini password.toml settings.xml vault.yml vault.yaml database.yml`)
	// shownFolders hold pages, interfaces of contracts, schemas and pictures, some of which have a
	// name of shownWords.
	shownFolders = setOf("pages abi abis artifacts contracts schema schemas assets")
	shownWords   = setOf("auth.json oauth.json oauth2.json token.json password.json login.json wallet.json wallets.json privatekey.json accesstoken.json accesstokens.json")
	// secretTexts are the names of texts that hold one value, beside secretAlone.
	secretTexts = setOf("mnemonic seed privatekey secretkey passcode seedphrase accesskey cookie pin recoverycode backupcode psk pw pwd userpass login totp")
	codeKinds   = setOf("recovery backup rescue auth 2fa otp totp")
	// phraseKinds and phraseEnds: "seed-phrase.txt", "recovery words.txt", "wallet-seed".
	phraseKinds = setOf("seed recovery mnemonic wallet backup secret metamask ledger trezor phantom")
	phraseEnds  = setOf("phrase word seed mnemonic")
	// keyKinds come before "key" in the name of a file that holds one: "gcp-key.json".
	keyKinds = setOf("gcp gcloud google firebase sa service account private secret signing api aws azure deploy ssh jwt rsa master encryption admin")
	// managers keep passwords and codes, the longer of two names first; ambiguous are other
	// things, too.
	managers   = strings.Fields("lastpass bitwarden 1password onepassword keepassxc keepass dashlane nordpass enpass protonpass roboform keeper aegis passbolt metamask andotp authy raivo proton")
	ambiguous  = setOf("keeper aegis metamask authy proton")
	savedWords = strings.Fields("export backup vault password login credential dump database")
	exportExts = setOf("csv json xml txt zip 1pif")
	exportOf   = setOf("bw vault password login credential keychain")
	// plainPrograms are programs in bin that are called like a secret.
	plainPrograms = setOf("env pass identity token key")
	// secretPlaces are a name in the folder of the program that writes it.
	secretPlaces = setOf(`.kube/config .docker/config.json .cargo/credentials .gem/credentials .config/gcloud .composer/auth.json containers/auth.json
		.codex/auth.json .codex/config.toml .claude/settings.local.json .gemini/settings.json .qwen/settings.json .codeium/config.json gh/hosts.yml glab-cli/config.yml .config/hub doctl/config.yaml .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties
		.vscode/sftp.json .idea/webservers.xml .snowflake/config.toml .snowflake/connections.toml .snowsql/config .mc/config.json .huggingface/token huggingface/token .fly/config.yml
		.config/wrangler .auth/user.json .chef/credentials .ngrok2/ngrok.yml ngrok/ngrok.yml .irssi/config .purple/accounts.xml initializers/secret_token.rb
		.bundle/config .dbt/profiles.yml github-copilot/hosts.json github-copilot/apps.json op/config .continue/config.json .continue/config.yaml .continue/config.ts
		.docker/contexts .netlify/config.json .wrangler/config .config/pip/pip.conf .pip/pip.conf .nuget/nuget.config gcloud/credentials.db .mozilla/firefox
		solana/id.json hcloud/cli.toml scw/config.yaml stripe/config.toml netlify/config.json tea/config.yml argocd/config .talos/config .aliyun/config.json .config/configstore
		.circleci/cli.yml .jfrog/jfrog-cli.conf .twilio-cli/config.json .gitlab-runner/config.toml gitlab-runner/config.toml pypoetry/auth.toml .hex/hex.config .subversion/auth .svn/auth
		.bitcoin/bitcoin.conf .electrum/wallets .weechat/sec.conf .influxdbv2/configs .config/linode-cli default/settings.php etc/env.php
		flyctl/config.yml .foundry/keystores .ethereum/keystore .brownie/accounts .aptos/config.yaml .rancher/cli2.json .tabby-client/agent .continue/mcpservers`)
	secretNames = setOf(`.netrc _netrc .npmrc .pypirc .yarnrc.yml .pgpass pgpass.conf .pg_service.conf .my.cnf .mylogin.cnf .mongorc.js .dbshell .htpasswd .htdigest
		.git-credentials .dockercfg .dockerconfigjson .vault-token .terraformrc terraform.rc .boto .s3cfg .passwd-s3fs .kubeconfig kubeconfig kube.config .passwd
		shadow .rhosts .fetchmailrc .msmtprc .esmtprc .authinfo .muttrc .sentryclirc .databrickscfg .tugboat .smbcredentials .vault_pass .vault-pass vault_pass.txt
		vault-pass.txt rclone.conf .ftpconfig .ftppass .remote-sync.json sftp-config.json filezilla.xml sitemanager.xml recentservers.xml datasources.local.xml
		wallet.dat proftpdpasswd kaggle.json wp-config.php localsettings.php local.settings.json local.properties key.properties keystore.properties
		signing.properties google-services.json googleservice-info.plist application_default_credentials.json aws_credentials deploy_rsa robomongo.json
		identity.age keys.txt.age dbeaver-data-sources.xml .dockerconfig.json
		env .dev.vars .flaskenv .pass .tokens rootkey.csv enpass.json
		wireguard.conf pgpass my.cnf pip.conf nuget.config .claude.json claude_desktop_config.json .openai .anthropic .aider.conf.yml identity sftp.json ftp-config.json key3.db key4.db signons.sqlite cookies.sqlite settings-security.xml
		winscp.ini mobaxterm.ini confcons.xml .mcp.json mcp_config.json cline_mcp_settings.json talosconfig k3s.yaml fish_history consolehost_history.txt wpa_supplicant.conf
		initialadminpassword priv_validator_key.json keypair.json .civo.json .vultr-cli.yaml .hgrc .condarc .mbsyncrc .offlineimaprc getmailrc .odbc.ini cqlshrc tailscaled.state
		keystore.json privkey.txt wallet.txt wallet-backup.json electrum_wallet keepass.xml aws-keys.csv cloudflare.ini opencode.json .openrouter storage_state.json
		.curlrc _curlrc .wgetrc .lftprc .rediscli_auth authinfo logins.csv otp_accounts.json swanctl.conf privatekey presharedkey pg_service.conf cwallet.sso connectionstrings.config
		.rclone.conf tailscale.state .wakatime.cfg msal_token_cache.json msal_token_cache.bin proton-pass.json proton_pass.json vault-password-file vault_password_file .vault-password-file .vault_password_file
		.modal.toml .sgptrc src-config.json exoscale.toml upctl.yaml crush.json mcp_settings.json
		.erlang.cookie .mnemonic .scwrc jwks.private.json jwks-private.json jwks_private.json private.jwks.json private-jwks.json private_jwks.json
		kube-config kube_config kube-config.yaml kube-config.yml kube_config.yaml kube_config.yml kube_config_cluster.yml
		passwd- shadow- gshadow secret_key_base htpasswd htdigest s3cfg boto.cfg htpasswd.users`)
	// secretExts: the last extension alone is enough.
	secretExts = setOf(`env pem key p12 pfx p8 pk8 pkcs12 jks keystore truststore bks kdb kdbx psafe3 keychain agilekeychain kwallet keyring keypair ppk gpg pgp ovpn
		tblk keytab kubeconfig tfvars agekey mobileprovision jceks jwk enc secret secrets token publishsettings azurepubxml pubxml cscfg rdp bek htpasswd har nmconnection mobileconfig rdg 2fas 1pif 1pux opvault wallet password passwd authkey keychain-db`)
	// secretPrefixes are secret whatever follows but isProgram.
	secretPrefixes = []string{".env", ".dev.vars", "privatekey-peer", "presharedkey-peer", "gha-creds-", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"}
	// secretStems are what stands before a name's first dot.
	secretStems = setOf("credentials credential creds secrets secret passwords passwd kubeconfig apikey apikeys api_key api-key api_keys api-keys")
	secretFirst = setOf("secret credential")
	// tokenKinds come before "token": "oauth-token.json", not "design-tokens.json".
	tokenKinds = setOf("oauth oauth2 access session auth api bearer id bot personal github gitlab slack discord telegram")
	stages     = setOf("dev development prod production prd stage staging stg test testing local uat qa ci live default copy 1 2 3")
	secretLast = setOf("secret credential cred password passwd apikey kubeconfig") // as singular has them
	// secretAlone end the names of files that hold one value and nothing else.
	secretAlone = setOf("key rsa dsa ed25519 ecdsa passphrase pass token authkey authtoken apitoken accesstoken refreshtoken sessiontoken")
	// harmlessFirst begin the names of programs, of jobs and of texts about
	// secrets, and of what is made to be published.
	harmlessFirst = setOf(`add change check create delete detect encrypt external fetch find forgot gen generate get import invalid list make manage new no print
		refresh reset revoke rotate scan sealed set show sync update verify`)
	copyExts = setOf(".bak .old .orig .save .backup .bkp .copy .tmp .swp .swo .un~ .1 .2")
	// dataExts are those of files that hold values.
	dataExts = setOf("json json5 jsonc yml yaml toml ini txt csv tsv xml db properties props conf cfg config plist edn")
	// codeExts are those of the languages that programs are written in.
	codeExts = func() map[string]bool {
		m := map[string]bool{}
		for _, l := range lang.All() {
			for _, ext := range l.Extensions {
				if l.Content == lang.Code && !dataExts[ext] {
					m[ext] = true
				}
			}
		}
		return m
	}()
	// shellExts are those whose programs set an environment, compiledExts those of which none is
	// read as one.
	shellExts    = setOf("sh bash zsh ksh fish ps1 psm1 psd1 bat cmd")
	compiledExts = setOf("ts tsx mts cts py pyi go rb java kt cs swift")
	// sourceExts are those of files that people write for programs or readers: every language
	// of code and prose, and what no language of package lang is.
	sourceExts = func() map[string]bool {
		m := setOf(`ipynb tf hcl bicep rego cue svg dockerfile erb feature tpl tmpl j2 jinja jinja2 hbs handlebars mustache liquid twig njk ejs pug haml slim snap cshtml vbhtml razor aspx jsp
			coffee re rei hx vala jsonnet libsonnet gawk raku purs pde as ahk applescript vbs cls bas frm cob cbl m4 ac am in dhall pkl graphqls prisma pot po strings stringsdict
			xcstrings arb resx xlf xliff ftl`)
		for _, l := range lang.All() {
			for _, ext := range l.Extensions {
				if l.Content != lang.Config && !dataExts[ext] {
					m[ext] = true
				}
			}
		}
		return m
	}()
)
