package walk

import (
	"strings"
	"testing"
)

// Names that scanners for secrets report, ignore templates list, or programs give
// to the files they keep keys and credentials in.
var secretPathsOf = map[string]string{
	"environment": `.env .env.local .env.production .env.prod.local .ENV .env~ .env.bak .env.example .env.sample .env.template .envrc .env-prod .env_staging
		prod.env config/database.env docker/example.env a/.env.d/x.sh .env/production .envs/.production/.postgres docker/.envs/.local/.django .env.vault`,
	"ssh": `id_rsa id_rsa.pub id_rsa.work id_dsa keys/id_ed25519 id_ed25519_sk id_ecdsa.old .ssh/config .ssh/known_hosts ssh_host_rsa_key ssh_host_ed25519_key deploy_key deploy_rsa
		github_deploy_key ci/deploy-key home/.ssh/any/thing.go server.ppk`,
	"keys": `server.key tls/SERVER.KEY server.pem server.pem.old server.key.bak server.key~ #server.key# server.key.orig cert.p12 a.pfx AuthKey_ABC.p8 release.pk8
		store.jks release.keystore x.truststore db.kdbx x.kdb x.gpg x.pgp vpn.ovpn krb5.keytab keys.agekey login.keychain private.jwk config/master.key
		config/credentials/production.key api_key api-key.txt private_key secret_key.txt encryption_key.txt app.mobileprovision`,
	"words": `credentials credentials.json credentials.yml.enc credentials.json.bak credentials.production.yml secrets.prod.yaml config/secrets.production.yml
		config/secrets.yml secrets.toml .streamlit/secrets.toml secrets.json secret.yaml .secrets .secrets.baseline .secrets/x creds.json db-credentials.json
		gcp_credentials.json aws_credentials .aws-credentials prod.secrets.yaml app-secrets.yaml secrets-prod.yaml credentials_dev.json passwords.txt passwords.csv
		db_password.txt postgres_password secrets/db_password access_token auth_token.txt .vault_pass .vault-token api_keys.json apikey.txt credentials.local
		webhook.secret github.token secrets.properties user_passwords.csv .SECRETS.TOML`,
	"clouds": `.aws/credentials .aws/config .azure/x .config/gcloud/x.db .config/gcloud/application_default_credentials.json application_default_credentials.json
		service-account.json service_account_prod.json serviceAccountKey.json app-firebase-adminsdk-abc12.json client_secret_123.apps.googleusercontent.com.json
		google-services.json ios/GoogleService-Info.plist .kube/config .kube/config.bak .kube/config~ .docker/config.json.old kubeconfig prod.kubeconfig kubeconfig.yaml .docker/config.json .dockercfg .boto .s3cfg rclone.conf
		.passwd-s3fs .databrickscfg .oci/config .pulumi/credentials.json firebase-adminsdk.json .stripe/config.toml .railway/config.json .netlify/config.json .wrangler/config/default.toml local.settings.json site.publishsettings ServiceConfiguration.cscfg app.pubxml .kaggle/kaggle.json`,
	"tools": `.netrc _netrc .npmrc .npmrc.bak .yarnrc.yml .pypirc .pypirc.old .pgpass pgpass.conf .my.cnf .mylogin.cnf .mongorc.js .htpasswd site.htpasswd .git-credentials
		.terraformrc terraform.tfvars terraform.tfvars.json prod.auto.tfvars.json prod.tfvars terraform.tfstate terraform.tfstate.backup .cargo/credentials.toml
		.cargo/credentials .gem/credentials .composer/auth.json auth.json gh/hosts.yml .config/hub .m2/settings.xml .gradle/gradle.properties .bash_history
		.psql_history .python_history .sentryclirc .vscode/sftp.json sftp-config.json .ftpconfig filezilla.xml .idea/webServers.xml .idea/dataSources.local.xml
		wallet.dat wp-config.php config/initializers/secret_token.rb local.properties android/key.properties keystore.properties .muttrc .authinfo .authinfo.gpg authinfo shadow .curlrc _curlrc .wgetrc .lftprc .rediscli_auth`,
	"one value": `password.txt password.json .password .pass .tokens token token.txt tokens.txt token.json key.txt keys.txt pass.txt passphrase.txt passphrases.txt privatekey.txt
		private_keys.txt mnemonic.txt seed.txt seeds.txt recovery-codes.txt recovery_code.txt github-recovery-codes.txt backup-codes.txt cookies.txt deploy_keys auth_tokens.txt`,
	"environments without a dot": `env env.prod env.local env.example .dev.vars .dev.vars.production .dev.vars.local .flaskenv`,
	"consoles and browsers": `accessKeys.csv access_keys.csv my-access-key.csv accessKeys(1).csv me_accessKeys.csv rootkey.csv new_user_credentials.csv awscredentials.csv logins.json oauth.json oauth2.json sub/auth.json
		session.har key4.db .mozilla/firefox/x/prefs.js`,
	"password managers and wallets": `lastpass.csv lastpass_export.csv bitwarden.json bitwarden_export_20260101.json 1password.1pif x.1pux wallet.json wallets.json
		keystore/UTC--2026-01-01T00-00-00.000Z--abcdef`,
	"phrases and keys in words": `seed-phrase.txt seed_phrase.txt seed-words.txt recovery-phrase.txt wallet-seed.txt recovery_words mnemonic-phrase.txt gcp-key.json sa-key.json firebase_key.json
		private-key.json google-service-key.json private.asc my-private.asc secret-key.asc private_key.asc secring.asc credentials-config.json keypair.json solana/id.json`,
	"exports":          `nordpass.csv nordpass_export.csv protonpass.csv enpass.json keeper-export.csv bw-export.json export-lastpass.csv vault-export.json passwords_export.json firefox_logins.csv metamask-vault.json root-key.csv auth.toml oauth-token.json access_tokens.json roboform.csv aegis-backup-20260101.json x.2fas`,
	"more assistants":  `.claude/settings.local.json .claude/.credentials.json .cursor/mcp.json .vscode/mcp.json .roo/mcp.json .mcp.json windsurf/mcp_config.json .gemini/settings.json .codex/config.toml cline_mcp_settings.json`,
	"more remote ends": `WinSCP.ini MobaXterm.ini confCons.xml servers.rdg home.nmconnection wpa_supplicant.conf office.mobileconfig tailscaled.state .hgrc .subversion/auth/svn.simple/x`,
	"more clouds": `talosconfig .talos/config k3s.yaml argocd/config hcloud/cli.toml scw/config.yaml .aliyun/config.json .config/configstore/firebase-tools.json .circleci/cli.yml .jfrog/jfrog-cli.conf
		.config/stripe/config.toml .gitlab-runner/config.toml pypoetry/auth.toml .near-credentials/x.json fish_history ConsoleHost_history.txt initialAdminPassword app/etc/env.php sites/default/settings.php`,
	"tunnels":          `wg-client.conf wg_home.conf wg0-peer.conf my-wireguard.conf wg_confs/office.conf config/peer_phone/peer_phone.conf privatekey presharedkey privatekey-peer1 swanctl.conf psk.txt`,
	"state and caches": `tailscale.state .rclone.conf .wakatime.cfg msal_token_cache.json vault-password-file proton-pass.json bitlocker-recovery.txt BitLocker-Recovery-Key-0A1B.TXT`,
	"more exports": `1PasswordExport-2026-01-01.csv 1PasswordExport-aB3dE.1pif BitwardenExport.json my-bitwarden-backup.json lastpass_vault_20260101.xml logins.csv Proton_Pass_export_2026.json dashlane-export.zip
		keychain-export.csv andotp-backup.json otp_accounts.json bitwarden-20260101.json KeePassDatabase.xml my_nordpass.csv.old`,
	"one value without a separator": `authkey apitoken.txt accesstoken refreshtoken.txt`,
	"more programs":                 `.cloudflared/0a1b2c3d.json .modal.toml .sgptrc src-config.json connectionStrings.config .aptos/config.yaml .config/flyctl/config.yml .foundry/keystores/deployer my.wallet pg_service.conf`,
	"servers of an assistant":       `.kiro/settings/mcp.json .junie/mcp/mcp.json .amazonq/mcp.json mcp_settings.json crush.json .continue/mcpServers/x.yaml`,
	"what another look named": `gha-creds-0a1b2c3d.json firebase-service-account.json my-wallet.dat solana-keypair.json mykey.pem.txt server.key.txt pw.txt pwd.txt userpass.txt logins.txt totp.txt 2fa-codes.txt metamask-seed.txt
		db.password redis.passwd ts.authkey login.keychain-db passwd- secret_key_base htpasswd s3cfg boto.cfg`,
	"what a reviewer named": `keystore.json privkey.txt wallet.txt wallet-backup.json electrum_wallet keepass.xml aws-keys.csv cloudflare.ini opencode.json .openrouter storage_state.json .config/wrangler/config/default.toml playwright/.auth/user.json`,
	"what a later look named": `.erlang.cookie .erlang.cookie.bak .mnemonic .snowflake/connections.toml .scwrc .tccli/default.credential .tccli/prod.credential privateKey.json certs/privateKey.json jwks.private.json config/jwks-private.json
		kube-config.yaml kube-config kube_config.yml kube_config_cluster.yml accessTokens.json .azure/accessTokens.json accessToken.json`,
	"environments as programs":        `.env.js .env.cjs .env.local.js .env.php .env.local.php .env.sh .env-prod.sh .env_staging.js .env.ps1 .env.ru .env.pl .env.ml .env.ex .env.d .env.in .env.tpl .env.md .envoy.yaml .environment/prod .environment/db.json`,
	"accounts":                        `.aws/config .aws/sso/cache/0a1b.json .aws/cli/alias .azure/config .azure/azureProfile.json .azure/dev/config.json .azure/azuredeploy.parameters.json .azure/secrets.yml .aws/credentials.yaml .azure/task.json`,
	"beside pages and contracts":      `assets/cookies.json artifacts/bitwarden.json pages/vault.yml schemas/database.yml artifacts/logins.json assets/credentials.json contracts/secrets.json`,
	"networks":                        `wg0.conf wg.conf wireguard.conf sftp.json ftp-config.json identity`,
	"programs":                        `pgpass my.cnf pip.conf NuGet.Config nuget.config settings.xml ci/settings.xml vault.yml group_vars/all/vault.yml config/database.yml`,
	"assistants":                      `.config/github-copilot/hosts.json .config/github-copilot/apps.json .config/op/config .claude.json .openai .openai/key .anthropic/key .continue/config.json .aider.conf.yml .copilot/config.json`,
	"values in a folder":              `secrets/prod secrets/prod.txt secrets/db.json config/secrets/db.yaml deploy/secret/app.json credentials/prod.json secrets/prod/db`,
	"what Windows takes for the same": `.env. id_rsa. server.key... .env::$DATA .ssh::$INDEX_ALLOCATION/x server.key:x .aws./credentials .ssh../x`,
	"what macOS takes for the same":   ".\u017fsh/x .AWS\u200d/credential\u017f .e\u200cnv .en\ufeffv i\u200fd_rsa server.\u212aEY \u202e.env",
}

// Ordinary source, and what is published on purpose.
var openPathsOf = map[string]string{
	"source": `secrets.go secret.go internal/secrets/secrets.go internal/secrets/rules.yaml secrets/README.md credentials/provider.go src/credentials/index.ts
		credentials.go credentials_test.go secrets_manager.py keys.py key.go env.ts env.go env.d.ts environment.ts environment.prod.ts config/prod.env.js password.rb
		passwords_controller.rb Password.java TokenSecret.kt secret_test.py api_key.py apikey.ts access_token.rs shadow.css shadow/dom.ts
		passwd/main.c secrets.tf secrets.proto credentials.graphql secrets.sql secrets.d.ts kubeconfig.go netrc.go tfvars.go pem.go client_secret.go
		service_account.py auth.go secrets.vue Secrets.tsx credential-helper.sh env/settings.py`,
	"source that begins so": `id_rsa.go id_rsa.rb id_rsa_test.py hooks/id_rsa.go id_ed25519_sk.c gha-creds-test.go privatekey-peer.go presharedkey-peer_test.ts .env.ts .env.d.ts .env.py .env.go .env_parser.py .env-loader.js .env-parser.d.ts
		.envoy/config.go .envoy/envoy.yaml .environment/main.go firebase-adminsdk.ts id_rsa.py.bak`,
	"deployment":          `.azure/azure-pipelines.yml .azure/pipelines/build.yaml .azure/main.bicep .aws/task-definition.json .aws/taskdef-prod.json .aws/buildspec.yml .aws/deploy.sh .azure/README.md .aws/.gitignore .azure/azuredeploy.json`,
	"pages and contracts": `pages/login/login.json contracts/abi/token.json artifacts/Token.json schemas/token.json assets/lottie/login.json schema/password.json abi/wallet.json`,
	"config": `package.json packages/secrets/package.json packages/credentials/tsconfig.json locales/en/auth.json locales/en/reset-password.json credentials.schema.json
		templates/serviceaccount.yaml k8s/service-account.yaml sealed-secret.yaml external-secrets.yaml .github/workflows/scan-secrets.yml detect-secrets.yaml
		secrets-store.yaml tokens.json design-tokens.json keys.json tokenizer.json monkey.txt keyboard.yml config.json
		config.toml hosts.yml kube/config docker/config.json appsettings.json nginx.conf app/gradle.properties values.yaml key-bindings.json`,
	"every language": `secrets.el credentials.adb Passwords.pas secret.vala secrets.jsonnet credentials.cr secrets.gd password.coffee secrets.f90 credentials.tcl secret.sbt passwords.rkt token_secret.purs secrets.csx
		db-credentials.vb secrets.astro app_secrets.star secret.hlsl credentials.cu secrets.tex`,
	"words for users": `locales/en/secrets.json src/i18n/de/credentials.yml lang/en/passwords.properties app/_locales/en/secret.json translations/api_keys.json i18n/secrets-prod.json locale/de/db-credentials.yaml
		messages/password.toml nls/en/credentials.json l10n/secret.xml de.lproj/Credentials.strings po/secrets.po Resources/Secrets.resx lib/l10n/credentials.arb`,
	"words and screens": `locales/en/oauth.json src/i18n/de/password.json lang/en/token.json app/src/main/res/xml/settings.xml .github/workflows/vault.yml
		roles/x/tasks/vault.yml public/auth.json`,
	"packages": `pkg/secrets/rules.yaml src/secret/strings.json secrets/package.json secrets/kustomization.yaml secrets/.gitignore secrets/LICENSE secrets/sealed-db.yaml
		secrets/README.md internal/credential/testdata.json environment env.go env.d.ts envoy.yaml env/settings.py`,
	"near those names": `bitlocker.go bitlocker.md proton-pass.svg wakatime.go msal.json tailscale.json rclone.md create-service-account.json login.json.go seed-ledger.go walletdat.md keypair-test.ts password.ts totp.go pwd.sh 2fa.md`,
	"near exports": `keeper_config.xml enable_keeper1.xml metamask-logo.json bitwarden-icon.json aegis.json authy-config.xml wgrib.conf wgetopts.conf peer/nginx.conf peer.conf docker/wireguard/nginx.conf 1password.json
		proton.json proton/config.json dashlane.svg`,
	"near what a later look named": `erlang.cookie.md cookie.erl mnemonic.go mnemonics.ts snowflake/connections.py .snowflake/README.md scwrc.md tccli/main.go privateKey.ts privateKey.schema.json schemas/privateKey.json schemas/accessTokens.json locales/en/privateKey.json
		locales/en/accessTokens.json jwks.json jwks.public.json jwks_private_test.go kube-config.go kube_config.py kube-config.md docs/kube-config.rst kube-config-map.yaml accessTokens.ts access-tokens.controller.ts`,
	"near those": `mcp.json a/b/mcp.json swagger.api-keys.json server/mcp.json claude/settings.json .claude/settings.json .claude/commands/x.md translation-key.json primary-key.json object_keys.json release.tar.gz.asc public.asc KEYS.asc
		export.json vault-export.go data-export.csv logins.go login.css design-tokens.json syntax_token.json special-tokens.json vault.json
		seed.sql seeds.rb seed-data.json stop-words.txt words.txt phrases.txt key-phrase-extraction.txt solana/lib.rs settings.local.json src/default/settings.py config/settings.yml argocd/values.yaml
		.circleci/config.yml recovery-plan.txt wallet-service.txt nordpass.go keeper.go private.ts credentials-config.ts`,
	"programs":  `usr/bin/env bin/pass bin/token authorized_keys compass.txt surpass bypass.txt keyboard hotkeys.txt turnkeys class.txt session.txt opensource.txt bin/git-secrets-scan bin/reset-password bin/gen-token bin/rotate_key scripts/create-secret bin/apt Makefile Dockerfile LICENSE monkey turkey`,
	"templates": `secrets.yaml.tpl secrets.yml.j2 credentials.yml.erb templates/secret.tpl wp-config-sample.php.md`,
	"public":    `server.crt ca.cer cert.der docs/secrets.md docs/credentials.rst SECRETS.md known_hosts.md authorized_keys.md secrets.html`,
}

func TestSecretNames(t *testing.T) {
	for group, list := range secretPathsOf {
		for _, p := range strings.Fields(list) {
			if !IsSecret(p) || !IsSecret("deep/in/the/"+p) {
				t.Errorf("%s: %s is taken for no secret", group, p)
			}
		}
	}
	for _, p := range []string{"locales/en/.env", "lang/en/secrets.txt", "i18n/server.key", "locales/credentials.db", "Proton Pass_export_2026-01-01.csv", "iCloud Keychain export.csv", "gradle.properties", "credentials (1).json", "credentials copy.json", "id_rsa copy", "my secrets.yml", "server copy.key", ".env ", ".env. ."} {
		if !IsSecret(p) {
			t.Errorf("%q is taken for no secret", p)
		}
	}
	for group, list := range openPathsOf {
		for _, p := range strings.Fields(list) {
			if IsSecret(p) {
				t.Errorf("%s: %s is taken for a secret", group, p)
			}
		}
	}
	for _, p := range []string{"", ".", "..", "/", "#", "~", "#~#", "...", "a/", "//", "-_-", ".bak", "~.bak"} {
		if IsSecret(p) {
			t.Errorf("%q is taken for a secret", p)
		}
	}
}

// A folder is not a file of its name.
func TestSecretFolders(t *testing.T) {
	for _, dir := range []string{".ssh", ".envs", ".env", ".env.d", "home/.gnupg", ".config/gcloud", ".secrets"} {
		if !secretEntry(dir, true) || !IsSecret(dir+"/main.go") {
			t.Errorf("folder %s is taken for no secret", dir)
		}
	}
	for _, dir := range []string{"secrets", "internal/credentials", "shadow", "passwd", "id_rsa", "api_key", "prod.env", "x.key", "auth.json"} {
		if secretEntry(dir, true) || IsSecret(dir+"/main.go") {
			t.Errorf("folder %s is taken for a secret", dir)
		}
	}
}

func BenchmarkIsSecret(b *testing.B) {
	for b.Loop() {
		for _, p := range []string{"internal/store/apply.go", "web/src/components/Button.tsx", "package.json", "docs/guide/intro.md", "Makefile", "config/app-values.yaml"} {
			if IsSecret(p) {
				b.Fatal(p)
			}
		}
	}
}

// Of any path: case does not count, a copy is as secret, and so is what Windows takes
// for the same name.
func FuzzIsSecret(f *testing.F) {
	for _, list := range []map[string]string{secretPathsOf, openPathsOf} {
		for _, group := range list {
			for _, p := range strings.Fields(group) {
				f.Add(p)
			}
		}
	}
	f.Fuzz(func(t *testing.T, p string) {
		secret := IsSecret(p)
		for _, r := range p {
			if r > 0x7f {
				return // letters outside of ASCII have more forms than two
			}
		}
		if got := IsSecret(strings.ToUpper(p)); got != secret {
			t.Errorf("%q: %t, in capitals %t", p, secret, got)
		}
		if got := IsSecret(p + ". "); got != secret {
			t.Errorf("%q: %t, with a dot at its end %t", p, secret, got)
		}
		if secret && !strings.HasSuffix(p, "/") && !IsSecret(p+".bak") {
			t.Errorf("%q is secret, its copy is not", p)
		}
	})
}
