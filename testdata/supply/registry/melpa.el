(quarry
 :fetcher git
 :url "{{.Home}}.git"
 :files ("editors/emacs/quarry*.el" (:exclude "editors/emacs/quarry-test.el")))
