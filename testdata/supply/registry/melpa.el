(quarry
 :fetcher git
 :url "{{.Home}}.git"
 :files ("editors/emacs/quarry.el"))
