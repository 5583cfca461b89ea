//! Tells Zed how to start quarry's language server, and hands it the user's settings.

use zed_extension_api::{
    self as zed, serde_json::Value, settings::LspSettings, Command, LanguageServerId, Result, Worktree,
};

struct Quarry;

impl zed::Extension for Quarry {
    fn new() -> Self {
        Quarry
    }

    fn language_server_command(&mut self, server: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let binary = LspSettings::for_worktree(server.as_ref(), worktree)?.binary;
        let (path, arguments, env) = match binary {
            Some(binary) => (binary.path, binary.arguments, binary.env),
            None => (None, None, None),
        };
        let command = path.or_else(|| worktree.which("quarry")).ok_or(
            "quarry is not on the PATH: install it, or name it in Zed's settings as lsp.quarry.binary.path",
        )?;
        let mut environment = worktree.shell_env();
        environment.extend(env.unwrap_or_default());
        Ok(Command {
            command,
            args: arguments.unwrap_or_else(|| vec!["lsp".into()]),
            env: environment,
        })
    }

    fn language_server_initialization_options(&mut self, server: &LanguageServerId, worktree: &Worktree) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(&mut self, server: &LanguageServerId, worktree: &Worktree) -> Result<Option<Value>> {
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?.settings;
        // The server asks for its section; it takes its settings by their own names too.
        Ok(settings.map(|settings| match settings.get("quarry") {
            Some(_) => settings,
            None => zed::serde_json::json!({ "quarry": settings }),
        }))
    }
}

zed::register_extension!(Quarry);
