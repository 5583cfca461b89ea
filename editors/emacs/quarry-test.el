;;; quarry-test.el --- Tests of quarry.el  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; What the screen does not show.  The Go tests of this folder run these too.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'lsp-mode)
(require 'quarry)

(defun quarry-test--wire (&rest messages)
  "MESSAGES, objects, as they come from a server in one read."
  (mapconcat (lambda (message)
               (let ((body (json-serialize message)))
                 (format "Content-Length: %d\r\n\r\n%s" (string-bytes body) body)))
             messages))

(ert-deftest quarry-test-messages-behind-a-response ()
  (let* ((client (make-lsp--client :server-id 'other :response-handlers (make-hash-table) :notification-handlers (make-hash-table :test 'equal)))
         (filter (lsp--create-filter-function (make-lsp--workspace :client client)))
         (log nil))
    (puthash 7 (list (lambda (result) (push result log) (throw 'lsp-done '_)) #'ignore "test/wait" nil nil)
             (lsp--client-response-handlers client))
    (dolist (method '("test/before" "test/behind"))
      (puthash method (lambda (&rest _) (push method log)) (lsp--client-notification-handlers client)))
    (should (eq '_ (catch 'lsp-done
                     (funcall filter nil (quarry-test--wire '(:method "test/before") '(:id 7 :result "response")
                                                            '(:method "test/behind")))
                     'returned)))
    (should (equal (reverse log) '("test/before" "response" "test/behind")))
    ;; Without a response that is waited for, nothing is thrown.
    (should (eq 'returned (catch 'lsp-done
                            (funcall filter nil (quarry-test--wire '(:method "test/behind")))
                            'returned)))))

(ert-deftest quarry-test-positions ()
  (with-temp-buffer
    (insert "package a\n\n\tx := \"a😀é\" + y\n")
    (search-backward "y")
    (should (equal (quarry--position (point)) '(:line 2 :character 14)))
    (narrow-to-region (point) (point-max))
    (should (equal (quarry--position (point-max)) '(:line 3 :character 0)))
    (should (equal (quarry--position (point)) '(:line 2 :character 14)))))

(ert-deftest quarry-test-nothing-chosen ()
  (dolist (answer (list (lambda (&rest _) "") (lambda (&rest _) (signal 'quit nil))))
    (cl-letf (((symbol-function 'completing-read) answer))
      (should (null (quarry--choose "Apply?" '("Apply")))))))

(ert-deftest quarry-test-show ()
  (ert-with-temp-file file
    :text "one\ntwo é\n;; Local Variables:\n;; eval: (error \"run\")\n;; End:\n"
    (should (equal (quarry--show-soon nil nil file #'identity '(1 5)) '(:success t)))
    (sit-for 0.1)
    (let ((window (get-buffer-window (get-file-buffer file))))
      (with-current-buffer (window-buffer window)
        (should (equal (char-before (window-point window)) ?é))
        (kill-buffer))))
  (should (equal (quarry--show-soon nil nil "/nowhere" #'identity nil) '(:success :json-false))))

;; A yes close behind another command does not count; it is said, and the change stays.
(ert-deftest quarry-test-hasty-yes ()
  (let* ((now 1000) sent said
         (quarry--proposals nil)
         (quarry--last-command 0)
         (inhibit-message t))
    (cl-letf (((symbol-function 'quarry--now) (lambda () now))
              ((symbol-function 'quarry--alive-p) #'always)
              ((symbol-function 'current-idle-time) (lambda () (seconds-to-time 2)))
              ((symbol-function 'message) (lambda (&rest args) (push (apply #'format args) said)))
              ((symbol-function 'quarry--request) (lambda (_connection method params done)
                                                    (push (list method (plist-get params :apply)) sent)
                                                    (funcall done (lambda (key) (and (eq key :message) "")) nil))))
      (quarry--propose (list :id "1" :title "Fix" :reason "Why.\n--- not a diff" :basis "Confidence: high." :diff "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"
                             :connection 'here :buffer nil :sent nil))
      (should-error (quarry-apply))     ; nothing is shown yet
      (quarry--show-proposal)
      (with-current-buffer (plist-get (car quarry--proposals) :buffer)
        (should (equal (buffer-string) " Why.\n --- not a diff\n Confidence: high.\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"))
        (should buffer-read-only)
        (should (eq (key-binding (kbd "C-c C-c")) #'quarry-apply))
        (dolist (key '("RET" "y" "a" "SPC"))
          (should-not (eq (key-binding (kbd key)) #'quarry-apply))))
      (quarry--note-command)
      (setq now 1000.29)
      (quarry-apply)
      (should (equal said '("quarry: not applied: a key came just before; answer again")))
      (quarry-discard)
      (should (equal (car said) "quarry: not discarded: a key came just before; answer again"))
      (should-not sent)
      (setq now 1000.31)
      ;; The first time nothing was seen, the next one all.
      (quarry-apply)
      (should (equal (car said) "quarry: not applied: look and answer again (changed lines not seen yet: 2)"))
      (should-not sent)
      (cl-letf (((symbol-function 'quarry--bottom) (lambda (_) (point-max))))
        (run-hooks 'pre-command-hook)
        (with-selected-window (get-buffer-window (plist-get (car quarry--proposals) :buffer))
          (should (string-prefix-p "Keys   " (quarry--change-header (car quarry--proposals) "Keys")))))
      (quarry-apply)
      (should (equal sent '(("quarry/decide" t))))
      (should-not quarry--proposals)
      (should-not (memq #'quarry--note-command post-command-hook)))))

;; What begins with -- or ++ in a hunk is a changed line, and no name of a file.
(ert-deftest quarry-test-changed-lines ()
  (with-temp-buffer
    (insert " Why.\n\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n--- a comment\n+-- another\n two\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+new\n")
    (should (equal (mapcar (pcase-lambda (`(,beg . ,end)) (buffer-substring beg end)) (quarry--changed-lines))
                   '("--- a comment" "+-- another" "+new")))))

;; Flycheck's diagnostics are as good as Flymake's.
(ert-deftest quarry-test-flycheck ()
  (with-temp-buffer
    (insert "one\ntwo\n")
    (goto-char (point-min))
    (cl-letf (((symbol-function 'quarry--uri) (lambda () "file:///x"))
              ((symbol-function 'flycheck-error-message) #'identity)
              ((symbol-function 'flycheck-overlays-in) (lambda (beg end) (seq-filter (lambda (o) (overlay-get o 'flycheck-overlay)) (overlays-in beg end)))))
      (let ((overlay (make-overlay 2 4)))
        (overlay-put overlay 'flycheck-overlay t)
        (overlay-put overlay 'flycheck-error "wrong"))
      (make-overlay 1 4)
      (should-error (quarry--problem) :type 'user-error)
      (defvar flycheck-mode)
      (let ((flycheck-mode t))
        (should (equal (quarry--problem)
                       '(:uri "file:///x" :range (:start (:line 0 :character 1) :end (:line 0 :character 3)) :diagnostic (:message "wrong"))))
        (forward-line)
        (should (string-match-p "flycheck-next-error" (cadr (should-error (quarry--problem) :type 'user-error))))))))

;; What is cited in a page leads there, in one window for all pages; what merely looks so does not.
(ert-deftest quarry-test-pages ()
  (let* ((root (file-name-as-directory (make-temp-file "quarry" t)))
         (text "# Why\n\nAn `Item` has one (shop.go:3-4), see `shop.go:4` and localhost:80, ../shop.go:1.\n")
         (display-buffer-overriding-action '(nil))
         asked answers)
    (unwind-protect
        (cl-letf (((symbol-function 'quarry--request)
                   (lambda (connection method params done)
                     (push (list connection method params) asked)
                     (setq answers (append answers (list done)))))
                  ((symbol-function 'quarry--alive-p) (lambda (connection) (eq connection 'server)))
                  ((symbol-function 'pos-visible-in-window-p) #'always)) ; nothing is without a screen
          (with-temp-file (expand-file-name "shop.go" root) (insert "package shop\n\ntype Item struct {\n}\n"))
          (delete-other-windows)
          (quarry--show-page 'server (list root) "quarry:/explanation.md")
          (should (equal asked '((server "workspace/textDocumentContent" (:uri "quarry:/explanation.md")))))
          (let ((window (get-buffer-window "*quarry explanation*")))
            (should (and window (not (eq window (selected-window)))))
            (quarry--page-grown 'server "quarry:/explanation.md")
            (quarry--page-grown 'other "quarry:/explanation.md")
            (quarry--page-grown 'server "quarry:/answer.md")
            (should (equal (length asked) 2))
            ;; What comes is shown, though more was asked for.
            (let ((shows (lambda (n words)
                           (funcall (nth n answers) (lambda (_) words) nil)
                           (with-current-buffer "*quarry explanation*" (buffer-string)))))
              (should (equal (funcall shows 0 "first") "first"))
              (quarry--page-grown 'server "quarry:/explanation.md")
              ;; The answer to the newer request came first.
              (should (equal (funcall shows 2 "newer") "newer"))
              (should (equal (funcall shows 1 "older") "newer"))
              ;; An answer about the page before is none about the next.
              (quarry--page-grown 'server "quarry:/explanation.md")
              (quarry--show-page 'server (list root) "quarry:/explanation.md")
              (should (equal (funcall shows 3 "page before") ""))
              (should (equal (funcall shows 4 "next") "next")))
            (quarry--show-page 'server (list root) "quarry:/answer.md")
            (should (eq window (get-buffer-window "*quarry answer*")))
            (funcall (nth 5 answers) (lambda (_) "# Why") nil)
            (should (equal (window-point window) 1)) ; it may be whole
            (quarry--page-grown 'server "quarry:/answer.md")
            (funcall (nth 6 answers) (lambda (_) text) nil)
            (should (equal (window-point window) (with-current-buffer "*quarry answer*" (point-max))))
            ;; Who reads stays where they are.
            (set-window-point window 3)
            (quarry--page-grown 'server "quarry:/answer.md")
            (funcall (nth 7 answers) (lambda (_) (concat text "more\n")) nil)
            (should (equal (window-point window) 3)))
          (with-current-buffer "*quarry answer*"
            (should (equal (buffer-substring-no-properties (point-min) (point-max))
                           "Why\n\nAn Item has one (shop.go:3-4), see shop.go:4 and localhost:80, ../shop.go:1.\nmore\n"))
            (should (eq (key-binding (kbd "k")) #'quarry-stop))
            (should (eq (key-binding (kbd "TAB")) #'forward-button))
            (let (labels (button (point-min)))
              (while (setq button (next-button button))
                (push (button-label button) labels))
              (should (equal (reverse labels) '("shop.go:3-4" "shop.go:4"))))
            (goto-char (point-min))
            (push-button (button-start (next-button (point)))))
          (should (equal (buffer-name (window-buffer)) "shop.go"))
          (with-current-buffer "shop.go"
            (should (looking-at "type Item")))
          ;; The code's keys work in a page.
          (with-current-buffer "*quarry answer*"
            (should (eq (quarry--connection) 'server))
            (should (equal (quarry--page-header) "TAB and RET go to what is named, q closes"))))
      (dolist (name '("*quarry explanation*" "*quarry answer*" "shop.go"))
        (when (get-buffer name) (kill-buffer name)))
      (delete-directory root t))))

(ert-deftest quarry-test-markdown ()
  (pcase-dolist (`(,markdown ,text)
                 '(("# A *b*\n" "A b\n")
                   ("- one `x*y*z` two\n  * three\n" "• one x*y*z two\n  • three\n")
                   ("a **b c** d, 2 * 3 * 4, snake_case_name, _so_\n" "a b c d, 2 * 3 * 4, snake_case_name, so\n")
                   ("`a_/[b](c) _.ts:1-2` and `$x`\n" "a_/[b](c) _.ts:1-2 and $x\n")
                   ("&#60;b> &#42;&#42;no&#42;&#42; \\| `&#60;`\n" "<b> **no** | &#60;\n")
                   ("``a ` b`` and ` c\n" "a ` b and ` c\n")
                   ("x\n```go\nfunc f() {}\n```\ny" "x\nfunc f() {}\ny")
                   ("````\n```\n# no\n````\n" "```\n# no\n")
                   ("it is written\n```python\ndef f(" "it is written\ndef f(")
                   ("```" "")))
    (should (equal (substring-no-properties (quarry-page--rendered markdown)) text)))
  (should (equal-including-properties (quarry-page--rendered "`a`") (propertize "a" 'face 'quarry-page-code 'quarry-page-code t 'quarry-page-literal t)))
  (should (eq (get-text-property 0 'face (quarry-page--rendered "**a**")) 'bold))
  (should (equal (get-text-property 0 'face (quarry-page--rendered "```python\ndef f():\n```")) '(font-lock-keyword-face quarry-page-block)))
  ;; A model's word for a language turns nothing on.
  (dolist (language '("python" "el" "c" "diff"))
    (should (quarry-page--mode language)))
  (dolist (language '("" "server" "view" "desktop-save" "zip" "png" "global-auto-revert" "no such" "eval"))
    (should-not (quarry-page--mode language))))

;; Places are found by their lines, so that a word without end, as a model may write it, keeps nobody waiting.
(ert-deftest quarry-test-places ()
  (let ((root (file-name-as-directory (make-temp-file "quarry" t))))
    (unwind-protect
        (with-temp-buffer
          (with-temp-file (expand-file-name "shop.go" root) (insert "package shop\n"))
          (insert "see shop.go:3-4, (shop.go:1) [x]shop.go:5: `shop.go:2-2`,shop.go:7 no.go:1 :3 shop.go: 3\n"
                  (make-string 2000000 ?a) " " (apply #'concat (make-list 100000 "a:")) "\nshop.go:6-7")
          (quarry-page--link-places (list root))
          (let (places (at (point-min)))
            (while (setq at (next-button at t))
              (push (buffer-substring-no-properties (button-start at) (button-end at)) places)
              (setq at (button-end at)))
            (should (equal (nreverse places) '("shop.go:3-4" "shop.go:1" "shop.go:5" "shop.go:2-2" "shop.go:6-7")))))
      (delete-directory root t))))

;; A repository's .dir-locals.el names no program without the user's word.
(ert-deftest quarry-test-no-program-by-a-folder ()
  (should (risky-local-variable-p 'quarry-command))
  (should-not (safe-local-variable-p 'quarry-command '("/tmp/evil"))))

(ert-deftest quarry-test-status ()
  (let ((quarry--states nil) (mode-line-misc-info nil) (mode-line-modes nil) (quarry--page '(server)) sent)
    (cl-letf (((symbol-function 'quarry--connection) (lambda () 'server))
              ((symbol-function 'quarry--workspace) #'ignore)
              ((symbol-function 'quarry--alive-p) (lambda (connection) (eq connection 'server)))
              ((symbol-function 'quarry--execute) (lambda (&rest call) (push call sent)))
              ((symbol-function 'quarry--notify) (lambda (&rest call) (push call sent)))
              ((symbol-function 'quarry--choose) (lambda (_ titles) (car titles))))
      (should-not (quarry-mode-line))
      (should-error (quarry-status))
      (quarry--note-status 'gone '(:text "old"))
      (quarry--note-status 'server '(:level "warning" :text "no model" :detail "Why." :remedies ((:title "Do it" :command "quarry.do" :arguments ("x")))))
      (should (equal (length quarry--states) 1))
      (should (equal mode-line-misc-info '((:eval (quarry-mode-line)))))
      (should (equal mode-line-modes '((:eval (quarry--mode-line-sign)))))
      (should (equal (substring-no-properties (quarry--mode-line-sign)) "quarry! "))
      (should (equal (substring-no-properties (quarry-mode-line)) " quarry: no model "))
      (should (eq (get-text-property 2 'face (quarry-mode-line)) 'warning))
      (quarry--note-status 'server '(:level "ready" :text "m on gpu:11434" :remote t :detail "Why."))
      (should (equal (substring-no-properties (quarry--mode-line-sign)) "quarry@ "))
      (quarry--note-status 'server '(:level "busy" :text "indexing 40%-" :detail "Why."))
      (should-not (quarry--mode-line-sign))
      (should (equal (substring-no-properties (quarry-mode-line)) " quarry: indexing 40%%- ")) ; which shows as %
      (quarry--note-status 'server '(:level "warning" :text "no model" :detail "Why." :remedies ((:title "Do it" :command "quarry.do" :arguments ["x"]))))
      (quarry-status)
      (should (equal sent '(("quarry.do" "x"))))
      (setq sent nil)
      (quarry--note-progress 'server "quarry-1" "begin" "Indexing" nil) ; which is no answer
      (quarry--note-progress 'server "quarry-asked-2" "begin" "Fix" nil)
      (quarry--note-progress 'server "quarry-asked-3" "begin" "Explain: 9% of what is there is wrong" nil)
      (quarry--note-progress 'server "quarry-asked-3" "report" nil "137 characters")
      (quarry--note-progress 'server "quarry-asked-2" "end" nil "done")
      (should (equal (substring-no-properties (quarry-mode-line)) " quarry: Explain: 9%% of what is … "))
      (should (equal (quarry--page-header) "Explain: 9%% of what is there is wrong: 137 characters   k stops it"))
      (quarry-stop)
      (should (equal sent '((server "window/workDoneProgress/cancel" (:token "quarry-asked-3")))))
      (quarry--note-progress 'server "quarry-asked-3" "end" nil nil)
      (should (equal (quarry--page-header) "TAB and RET go to what is named, q closes")))))

;; A page is known to be cut whichever comes first, it or the word of its job, and whatever is heard of its server after the end.
(ert-deftest quarry-test-page-cut ()
  (dolist (first '(page job))
    (let ((quarry--states nil) (mode-line-misc-info nil) (mode-line-modes nil) (alive t))
      (cl-letf (((symbol-function 'quarry--alive-p) (lambda (_) alive))
                ((symbol-function 'quarry--read-page) #'ignore)
                ((symbol-function 'quarry-page-display) #'ignore)
                ((symbol-function 'run-with-timer) #'ignore))
        (when (eq first 'job) (quarry--note-progress 'server "quarry-asked-1" "begin" "Answer" nil))
        (quarry--show-page 'server '("/a") "quarry:/answer.md")
        (when (eq first 'page) (quarry--note-progress 'server "quarry-asked-1" "begin" "Answer" nil))
        (unwind-protect
            (with-current-buffer "*quarry answer*"
              (should (equal (quarry--page-header) "Answer: the model reads   k stops it"))
              (setq alive nil)
              (quarry--note-progress 'server "quarry-asked-1" "report" nil "9 characters")
              (quarry--note-status 'server '(:level "ready" :text "m"))
              (quarry--server-ended 'server)
              (should (string-prefix-p "The server ended before this was whole: ask again." (quarry--page-header))))
          (kill-buffer "*quarry answer*"))))))

;; A server that has ended by itself is started again without a question, three times; others are lsp-mode's to ask about.
(ert-deftest quarry-test-restart ()
  (let* ((now 1000) (lsp-restart 'interactive) (quarry--restarts nil) (inhibit-message t) said how
         (workspace (lambda (id &optional action root)
                      (make-lsp--workspace :client (make-lsp--client :server-id id) :root (or root "/a") :shutdown-action action)))
         (restart (lambda (_) (push lsp-restart how))))
    (cl-letf (((symbol-function 'quarry--now) (lambda () now))
              ((symbol-function 'message) (lambda (&rest args) (push (apply #'format args) said))))
      (quarry--restart restart (funcall workspace 'other))
      (quarry--restart restart (funcall workspace 'quarry 'restart))
      (should (equal how '(interactive interactive)))
      (dotimes (_ 4)
        (setq now (+ now 50))
        (quarry--restart restart (funcall workspace 'quarry)))
      (should (equal how '(auto-restart auto-restart auto-restart interactive interactive)))
      (should (string-prefix-p "quarry: the server ends again and again" (car said)))
      (quarry--restart restart (funcall workspace 'quarry nil "/b")) ; another project's ends once
      (should (equal (length how) 6))
      (setq now (+ now 180))
      (quarry--restart restart (funcall workspace 'quarry))
      (should (equal (length how) 7))
      (let ((lsp-restart 'ignore))
        (quarry--restart restart (funcall workspace 'quarry)))
      (should (equal (car how) 'ignore)))))

(ert-deftest quarry-keys ()
  "Each key of the map runs a command that there is, and the map can stand behind a prefix."
  (let ((map (make-sparse-keymap)) (commands 0))
    (keymap-set map "C-c q" 'quarry-map)
    (should (eq (keymap-lookup map "C-c q e") 'quarry-explain))
    (map-keymap (lambda (_ command) (should (commandp command)) (setq commands (1+ commands))) quarry-map)
    (should (= commands 9))))

(provide 'quarry-test)
;;; quarry-test.el ends here
