//! Tells Zed how to start quarry's language server, and hands it the user's settings.

use zed_extension_api::{
    self as zed, serde_json::Value, settings::LspSettings, Command, LanguageServerId, Result, Worktree,
};

struct Quarry;

/// Whether a path is below a folder, of any system: the standard library knows only the paths of the one it runs on.
fn is_in(path: &str, folder: &str) -> bool {
    let separators = ['/', '\\'];
    path.strip_prefix(folder.trim_end_matches(separators)).is_some_and(|rest| rest.starts_with(separators))
}

impl zed::Extension for Quarry {
    fn new() -> Self {
        Quarry
    }

    /// What lsp.quarry.binary says is Zed's to look at, before it asks here and only in a project that the user trusts:
    /// the settings that an extension gets may be the project's own.
    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let command = worktree
            .which("quarry")
            .filter(|path| !is_in(path, &worktree.root_path()))
            .ok_or("quarry is not on the PATH: install it, or name it in Zed's settings as lsp.quarry.binary.path")?;
        Ok(Command { command, args: vec!["lsp".into()], env: worktree.shell_env() })
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
