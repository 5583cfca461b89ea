;;; quarry.el --- Local coding assistant  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "30.1"))
;; Keywords: convenience, tools
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; quarry is a language server that completes, explains, fixes and answers with
;; a model on this machine.  This file makes it known to lsp-mode, gives
;; lsp-mode what it lacks to serve quarry well, and has the commands
;; `quarry-explain', `quarry-fix', `quarry-refactor' and `quarry-ask', for
;; lsp-mode and for eglot.

;;; Code:

(require 'cl-lib)
(require 'flymake)
(require 'quarry-change)
(require 'quarry-ghost)
(require 'quarry-page)
(require 'seq)

(defvar eglot-confirm-server-edits)
(defvar lsp--cur-workspace)
(defvar lsp-progress-function)
(defvar lsp-restart)
(declare-function eglot--server-info "eglot" (server))
(declare-function eglot-current-server "eglot")
(declare-function eglot--project "eglot" (server))
(declare-function eglot-uri-to-path "eglot" (uri))
(declare-function eglot-path-to-uri "eglot" (path &rest options))
(declare-function flycheck-error-message "ext:flycheck" (err) t)
(declare-function flycheck-overlays-in "ext:flycheck" (beg end))
(declare-function jsonrpc-async-request "jsonrpc" (connection method params &rest args))
(declare-function jsonrpc-notify "jsonrpc" (connection method params))
(declare-function jsonrpc-running-p "jsonrpc" (connection))
(declare-function project-root "project" (project))
(declare-function lsp--apply-workspace-edit "ext:lsp-mode")
(declare-function lsp--client-server-id "ext:lsp-mode")
(declare-function lsp--path-to-uri "ext:lsp-mode")
(declare-function lsp--uri-to-path "ext:lsp-mode")
(declare-function lsp--workspace-client "ext:lsp-mode")
(declare-function lsp--workspace-cmd-proc "ext:lsp-mode")
(declare-function lsp--workspace-root "ext:lsp-mode")
(declare-function lsp--workspace-shutdown-action "ext:lsp-mode")
(declare-function lsp-get "ext:lsp-protocol")
(declare-function lsp-put "ext:lsp-protocol")
(declare-function lsp-inline-completion-display "ext:lsp-inline-completion")
(declare-function lsp-notify "ext:lsp-mode")
(declare-function lsp-register-client "ext:lsp-mode")
(declare-function lsp-request-async "ext:lsp-mode")
(declare-function lsp-stdio-connection "ext:lsp-mode")
(declare-function lsp-workspaces "ext:lsp-mode")
(declare-function lsp--workspace-p "ext:lsp-mode")
(declare-function make-lsp-client "ext:lsp-mode")

(defgroup quarry nil
  "Local coding assistant."
  :group 'tools)

(defcustom quarry-command '("quarry" "lsp")
  "What starts the server under lsp-mode: a program and its arguments.
A folder's local variables can set it only if you say so each time."
  :type '(repeat string)
  :risky t)

;;;; Commands

(defvar-local quarry--page nil
  "In a page its connection, the folders it may name places of, and its URI.")

(defconst quarry--refactorings
  '(("Extract into a function" . "extract")
    ("Rename to something clearer within its scope" . "rename")
    ("Simplify" . "simplify")
    ("Document" . "document")
    ("Write tests" . "test"))
  "What `quarry-refactor' offers, and the server's names for it.")

;;;###autoload
(defun quarry-explain ()
  "Explain a diagnostic of this line, whoever reported it."
  (interactive)
  (quarry--execute "quarry.explain" (quarry--problem)))

;;;###autoload
(defun quarry-fix ()
  "Propose a fix of a diagnostic of this line, whoever reported it.
The change is shown, and made only by `quarry-apply'."
  (interactive)
  (quarry--execute "quarry.fix" (quarry--problem)))

;;;###autoload
(defun quarry-refactor (beg end wish)
  "Propose to change the text from BEG to END according to WISH.
It is one of the refactorings offered, or any words of yours.  The
change is shown, and made only by `quarry-apply'."
  (interactive
   (if (use-region-p)
       (list (region-beginning) (region-end) (quarry--read-wish))
     (user-error "Select the code that is to be changed")))
  (let ((kind (cdr (assoc wish quarry--refactorings))))
    (quarry--execute "quarry.refactor"
                     `(,@(quarry--place beg end) ,@(if kind (list :kind kind) (list :goal wish))))))

;;;###autoload
(defun quarry-ask (question &optional beg end)
  "Ask QUESTION about the workspace, or about the text from BEG to END.
Interactively about the region, if there is one."
  (interactive
   (let ((region (and (use-region-p) (not quarry--page))))
     (cons (read-string (if region "Ask about the region: " "Ask about the workspace: "))
           (and region (list (region-beginning) (region-end))))))
  (quarry--execute "quarry.ask"
                   `(:question ,question ,@(and beg (quarry--place beg end)))))

;;;###autoload
(defun quarry-explain-completion ()
  "Show where the last ghost text or completion in this buffer came from."
  (interactive)
  (quarry--execute "quarry.explainCompletion" (quarry--uri)))

;;;###autoload
(defun quarry-complete ()
  "Ask for completion at point now: for the best there is, and several candidates.
With lsp-mode it is shown as ghost text."
  (interactive)
  (quarry--connected)
  (if (quarry--workspace) (lsp-inline-completion-display) (completion-at-point)))

(defun quarry--read-wish ()
  "Read what to do with the region: a refactoring, or any words."
  (minibuffer-with-setup-hook
      (lambda ()                        ; blanks are for words here, not for completion
        (use-local-map (make-composed-keymap
                        (define-keymap "SPC" #'self-insert-command "?" #'self-insert-command)
                        (current-local-map))))
    (let ((completion-ignore-case t))
      (completing-read "Do what with the region (a choice or your words): " quarry--refactorings))))

(defun quarry--problems ()
  "What Flycheck and Flymake report of this line, each as (BEG END TEXT)."
  (let ((beg (line-beginning-position)) (end (line-end-position)))
    (seq-sort-by #'car #'<
                 (append
                  (and (bound-and-true-p flycheck-mode)
                       (mapcar (lambda (o) (list (overlay-start o) (overlay-end o) (flycheck-error-message (overlay-get o 'flycheck-error))))
                               (flycheck-overlays-in beg end)))
                  (mapcar (lambda (d) (list (flymake-diagnostic-beg d) (flymake-diagnostic-end d) (flymake-diagnostic-text d)))
                          (flymake-diagnostics beg end))))))

(defun quarry--problem ()
  "Return a diagnostic of this line, as the server takes it.
You choose if there are several."
  (pcase-let* ((found (quarry--problems))
               (`(,beg ,end ,text)
                (cond ((null found) (user-error "No diagnostic is on this line; `%s' finds one"
                                                (if (bound-and-true-p flycheck-mode) 'flycheck-next-error 'flymake-goto-next-error)))
                      ((null (cdr found)) (car found))
                      (t (let ((texts (mapcar (lambda (problem) (cons (nth 2 problem) problem)) found)))
                           (cdr (assoc (completing-read "Which one? " texts nil t nil nil (caar texts)) texts)))))))
    `(,@(quarry--place beg end) :diagnostic (:message ,(substring-no-properties text)))))

(defun quarry--place (beg end)
  "This buffer's text from BEG to END in the server's terms."
  (list :uri (quarry--uri)
        :range (list :start (quarry--position beg) :end (quarry--position end))))

(defun quarry--position (pos)
  "POS in UTF-32, which lsp-mode and eglot negotiate with the server."
  (save-restriction
    (widen)
    (save-excursion
      (goto-char pos)
      (list :line (1- (line-number-at-pos)) :character (- pos (pos-bol))))))

(defun quarry--uri ()
  "This buffer's file, spelled as the client spells it."
  (let ((file (or (buffer-file-name (buffer-base-buffer)) (user-error "Save the buffer first"))))
    (if (quarry--workspace) (lsp--path-to-uri file) (eglot-path-to-uri file))))

(defun quarry--workspace ()
  "Lsp-mode's connection to quarry in this buffer, or nil."
  (and (bound-and-true-p lsp-managed-mode)
       (seq-find (lambda (w) (eq (lsp--client-server-id (lsp--workspace-client w)) 'quarry))
                 (lsp-workspaces))))

(defun quarry--execute (command &rest arguments)
  "Have the server run COMMAND with ARGUMENTS."
  (quarry--request (quarry--connected) "workspace/executeCommand" (list :command command :arguments (vconcat arguments))
                   (lambda (_ problem) (when problem (message "quarry: %s" problem)))))

;;;; Models

(defconst quarry--model-commands
  '(("list" . "quarry.listModels") ("setup" . "quarry.setupModel") ("pull" . "quarry.pullModel")
    ("pause" . "quarry.pauseDownload") ("resume" . "quarry.resumeDownload")
    ("cancel" . "quarry.cancelDownload") ("use" . "quarry.useModel")
    ("verify" . "quarry.verifyModel") ("import" . "quarry.importModel") ("rm" . "quarry.removeModel"))
  "What can be done about models, and the server's command for it.")

;;;###autoload
(defun quarry-model (what &optional argument)
  "Do WHAT about the models of Ollama: list, set up, pull, use, verify and so on.
ARGUMENT is a model's name, for import a file; nil has the server choose, or
ask.  It also asks before it writes or deletes anything."
  (interactive
   (let ((what (completing-read "Models: " quarry--model-commands nil t nil nil "list")))
     (list what
           (pcase what
             ("pull" (read-string "Model to pull (empty: the configured one): "))
             ("import" (expand-file-name (read-file-name "GGUF file: " nil nil t)))))))
  (let ((command (or (cdr (assoc what quarry--model-commands)) (user-error "There is no command %s: choose one from the list" what))))
    (if (or (null argument) (string-empty-p argument))
        (quarry--execute command)
      (quarry--execute command argument))))

;;;; Questions of the server, and files that it shows

(defun quarry--when-free (f &optional pause &rest args)
  "Call F with ARGS once the user is not in the minibuffer.
With PAUSE, once they have typed nothing for that many seconds, too.  A question
would be in their way, and leaving the minibuffer closes windows that were
opened meanwhile."
  (if (or (> (minibuffer-depth) 0)
          (and pause (< (float-time (or (current-idle-time) 0)) pause)))
      (apply #'run-with-timer 0.2 nil #'quarry--when-free f pause args)
    (apply f args)))

(defun quarry--choose (message titles)
  "Have the user choose one of TITLES by MESSAGE, nil if they choose none."
  (let* ((completion-ignore-case t)
         (max-mini-window-height 0.5)   ; a small screen has the beginning of MESSAGE, too
         (chosen (condition-case nil
                     (completing-read (format "%s\n(%s) " message (string-join titles ", ")) titles nil t)
                   (quit ""))))
    (unless (string-empty-p chosen) chosen)))

(defun quarry--show (file &optional line character)
  "Show FILE in another window, at the 0-based LINE and CHARACTER if given."
  (let* ((enable-local-variables nil)   ; nobody has looked at it
         (window (display-buffer (find-file-noselect file))))
    (when (and line window)
      (with-current-buffer (window-buffer window)
        (save-excursion
          (goto-char (point-min))
          (forward-line line)
          (set-window-point window (min (+ (point) character) (pos-eol))))))))

(defun quarry--show-soon (connection roots uri path start)
  "Answer window/showDocument of CONNECTION: show URI when the user is free.
ROOTS are the folders that a page may name places of, PATH is a function that
makes a file's name of URI, and START the 0-based line and character or nil."
  (let ((page (string-prefix-p "quarry:" uri)))
    (if (not (or page (file-readable-p (funcall path uri)) (get-file-buffer (funcall path uri)))) ; which may not be saved yet
        (list :success :json-false)
      ;; Not in the process filter.
      (apply #'run-with-timer 0 nil #'quarry--when-free
             (if page (list #'quarry--show-page nil connection roots uri)
               (append (list #'quarry--show nil (funcall path uri)) start)))
      (list :success t))))

;;;; Explanations and answers

;; They are documents of the server's, and grow while the model writes.

(defvar-local quarry--page-job nil
  "The token of the job that writes a page, or `cut' where its server ended first.")

(defvar-local quarry--asked 0
  "How often a page's text was asked for.")

(defvar-local quarry--filled 0
  "Which of those a page's text answers.
An older answer takes no newer one's place, and one to what was asked for
last need not be the next: a page that grows fast would stand empty.")

(defun quarry--page-of (connection uri)
  "The buffer of the page URI of CONNECTION, or nil."
  (seq-find (lambda (buffer) (pcase (buffer-local-value 'quarry--page buffer)
                               (`(,c ,_ ,u) (and (eq c connection) (equal u uri)))))
            (buffer-list)))

(defun quarry--page-buffer (connection roots uri)
  "A buffer for the page URI of CONNECTION, which may name places below ROOTS.
A server calls its pages what every other does, so those of two projects
have buffers of their own: the second with its folder in the name."
  (let ((name (format "*quarry %s*" (file-name-base uri))))
    (or (quarry--page-of connection uri)
        (seq-find (lambda (buffer) (pcase (buffer-local-value 'quarry--page buffer) ; of the server before
                                     (`(,c ,r ,u) (and (equal u uri) (equal r roots) (not (quarry--alive-p c))))))
                  (buffer-list))
        (if-let* ((there (get-buffer name)) ((buffer-local-value 'quarry--page there)))
            (generate-new-buffer (format "*quarry %s of %s*" (file-name-base uri)
                                         (file-name-nondirectory (directory-file-name (or (car roots) "/")))))
          (get-buffer-create name)))))

(defun quarry--show-page (connection roots uri)
  "Show the page URI of CONNECTION, which may name places below ROOTS."
  (let ((buffer (quarry--page-buffer connection roots uri)))
    (with-current-buffer buffer
      (unless (derived-mode-p 'quarry-page-mode) (quarry-page-mode))
      (let ((inhibit-read-only t)) (erase-buffer))
      (setq quarry--page (list connection roots uri)
            quarry--filled quarry--asked ; what is under way may be of the page before
            quarry--page-job (car (quarry--job connection))
            header-line-format '(:eval (quarry--page-header))))
    (quarry-page-display buffer)
    (quarry--read-page buffer)))

(defun quarry--read-page (buffer)
  "Fill BUFFER with its page as it is now."
  (with-current-buffer buffer
    (pcase-let ((`(,connection ,roots ,uri) quarry--page)
                (this (setq quarry--asked (1+ quarry--asked))))
      (quarry--request connection "workspace/textDocumentContent" (list :uri uri)
                       (lambda (result problem)
                         (when (and (buffer-live-p buffer) (> this (buffer-local-value 'quarry--filled buffer))
                                    (or (not problem) (quarry--alive-p connection))) ; else what is there stays
                           (with-current-buffer buffer (setq quarry--filled this))
                           (quarry-page-fill buffer (or problem (funcall result :text)) roots)))))))

(defun quarry--page-grown (connection uri)
  "Read the page URI of CONNECTION again, if it is shown."
  (when-let* ((buffer (quarry--page-of connection uri)))
    (quarry--read-page buffer)))

(defun quarry--page-header ()
  "What stands above a page: what is being written and how to end it, or its keys."
  (quarry--literal
   (if-let* ((job (quarry--job (car quarry--page))))
       (format "%s: %s   k stops it" (nth 1 job) (nth 2 job))
     (concat (and (eq quarry--page-job 'cut) "The server ended before this was whole: ask again.   ")
             "TAB and RET go to what is named, q closes"))))

;;;; What goes on

(defvar quarry--states nil
  "What the servers say of themselves.
Each is a list of its connection, the notification quarry/status as a plist
with :level, :text, :detail, :remedies and :remote, whether code is sent to
another machine, and the jobs that the user has begun, the newest first: each a
list of token, title and how far it is.")

(defun quarry--state (connection)
  "The state of CONNECTION, made if it is missing."
  (setq quarry--states (seq-filter (lambda (state)
                                     (or (eq (car state) connection) ; what it said last is heard after its end
                                         (quarry--alive-p (car state))))
                                   quarry--states))
  (or (assq connection quarry--states)
      (car (push (list connection nil nil) quarry--states))))

(defun quarry--job (connection)
  "The newest of the jobs of CONNECTION, or nil."
  (car (nth 2 (assq connection quarry--states))))

(defun quarry--alive-p (connection)
  "Whether CONNECTION still leads to a server."
  (if (quarry--lsp-mode-p connection)
      (process-live-p (lsp--workspace-cmd-proc connection)) ; its status stays what it was
    (jsonrpc-running-p connection)))

(defun quarry--server-ended (connection)
  "Forget what the server of CONNECTION was at, and tell who waits for it."
  (let ((asked (nth 2 (assq connection quarry--states))))
    (setq quarry--states (assq-delete-all connection quarry--states))
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer
        (when (and quarry--page (eq (car quarry--page) connection) (assoc quarry--page-job asked))
          (setq quarry--page-job 'cut))))
    (force-mode-line-update t)
    (when (or (quarry--lose connection) asked)
      ;; The clients say much until the next server runs.
      (run-with-timer quarry--pause nil #'quarry--when-free
                      (lambda () (message "quarry: the server ended; ask again")) quarry--pause))))

(defun quarry--note-status (connection status)
  "Keep STATUS of CONNECTION, and show it in the mode line."
  (setf (nth 1 (quarry--state connection)) status)
  (add-to-list 'mode-line-misc-info '(:eval (quarry-mode-line))) ; first: lsp-mode's progress is long
  (add-to-list 'mode-line-modes '(:eval (quarry--mode-line-sign))) ; which 80 columns have room for
  (force-mode-line-update t))

(defun quarry--note-progress (connection token kind title message)
  "Keep the progress of a job of CONNECTION: TOKEN, KIND, TITLE and MESSAGE."
  (when (string-prefix-p "quarry-asked" (format "%s" token)) ; others go on by themselves
    (let ((state (quarry--state connection)))
      (pcase kind
        ("begin"
         (push (list token title "the model reads") (nth 2 state))
         (dolist (buffer (buffer-list)) ; a page may be shown before its job is told of
           (with-current-buffer buffer
             (when (and (eq (car quarry--page) connection) (not quarry--page-job))
               (setq quarry--page-job token)))))
        ("report" (when-let* ((job (assoc token (nth 2 state)))) (setf (nth 2 job) message)))
        ("end" (setf (nth 2 state) (assoc-delete-all token (nth 2 state)))))
      (force-mode-line-update t))))

(defun quarry--connection ()
  "The connection to quarry in this buffer, or nil.
A page whose server has ended has that of the code it may name places of."
  (or (if-let* ((connection (car quarry--page)) ((not (quarry--alive-p connection))))
          (seq-some (lambda (buffer)
                      (when-let* ((file (buffer-file-name buffer))
                                  ((seq-some (lambda (root) (file-in-directory-p file root)) (nth 1 quarry--page)))
                                  (next (with-current-buffer buffer (quarry--connection)))
                                  ((quarry--alive-p next)))
                        next))
                    (buffer-list))
        connection)
      (quarry--workspace)
      (and (bound-and-true-p eglot--managed-mode)
           (when-let* ((server (eglot-current-server)) ((quarry--eglot-p server))) server))))

(defun quarry--connected ()
  "The connection to quarry in this buffer."
  (or (quarry--connection) (user-error "Quarry does not run here; `lsp' or `eglot' starts it")))

(defun quarry--lsp-mode-p (connection)
  "Whether CONNECTION is lsp-mode's, not eglot's."
  (and (fboundp 'lsp--workspace-p) (lsp--workspace-p connection)))

(defun quarry--request (connection method params done)
  "Send CONNECTION the request METHOD with PARAMS, then call DONE.
It gets a function that reads a member of the result, and a message if there
is no result."
  (if (quarry--lsp-mode-p connection)
      (let ((lsp--cur-workspace connection)) ; not all servers of the buffer
        (lsp-request-async method params
                           (lambda (result) (funcall done (lambda (key) (lsp-get result key)) nil))
                           :error-handler (lambda (err) (funcall done #'ignore (lsp-get err :message)))
                           :mode 'detached))
    (jsonrpc-async-request connection (intern (concat ":" method)) params
                           :timeout nil
                           :success-fn (lambda (result) (funcall done (lambda (key) (plist-get result key)) nil))
                           :error-fn (lambda (err) (funcall done #'ignore (plist-get err :message))))))

(defun quarry--notify (connection method params)
  "Send CONNECTION the notification METHOD with PARAMS."
  (if (quarry--lsp-mode-p connection)
      (let ((lsp--cur-workspace connection))
        (lsp-notify method params))
    (jsonrpc-notify connection (intern (concat ":" method)) params)))

(defun quarry--literal (text)
  "TEXT for a mode line or header line, where a % has a meaning."
  (string-replace "%" "%%" text))

(defun quarry--mode-line-note (text connection status)
  "TEXT for the mode line, with what STATUS of CONNECTION has to say and do."
  (let ((job (quarry--job connection)))
    (propertize (quarry--literal text)
                'face (and (equal (plist-get status :level) "warning") 'warning)
                'help-echo (concat (and job (format "%s: %s; `quarry-stop' ends it\n" (nth 1 job) (nth 2 job)))
                                   (plist-get status :detail) "\nmouse-1: what helps")
                'local-map '(keymap (mode-line keymap (mouse-1 . quarry-status))))))

(defun quarry-mode-line ()
  "Quarry's part of this buffer's mode line."
  (when-let* ((connection (quarry--connection)) (status (nth 1 (assq connection quarry--states))))
    (let ((job (quarry--job connection)))
      (quarry--mode-line-note (format " quarry: %s " (if job (truncate-string-to-width (nth 1 job) 24 nil nil t) (plist-get status :text)))
                              connection status))))

(defun quarry--mode-line-sign ()
  "What stands before the modes in the mode line, as what is behind may be cut off.
An exclamation mark says that something is wrong, an at sign that code is sent
to another machine."
  (when-let* ((connection (quarry--connection)) (status (nth 1 (assq connection quarry--states)))
              (signs (concat (and (equal (plist-get status :level) "warning") "!") (and (plist-get status :remote) "@")))
              ((not (string-empty-p signs))))
    (quarry--mode-line-note (format "quarry%s " signs) connection status)))

;;;###autoload
(defvar-keymap quarry-map
  :doc "Keys of quarry's commands, to be put behind a prefix."
  :prefix 'quarry-map
  "e" #'quarry-explain
  "f" #'quarry-fix
  "r" #'quarry-refactor
  "q" #'quarry-ask
  "c" #'quarry-complete
  "a" #'quarry-apply
  "d" #'quarry-discard
  "k" #'quarry-stop
  "s" #'quarry-status)

;;;###autoload
(defun quarry-status ()
  "Say how quarry is, and offer what helps."
  (interactive)
  (let* ((connection (quarry--connected))
         (status (or (nth 1 (assq connection quarry--states)) (user-error "Quarry has not said yet how it is; ask again")))
         (remedies (plist-get status :remedies)))
    (if (null remedies)
        (message "%s" (plist-get status :detail))
      (when-let* ((title (quarry--choose (plist-get status :detail) (mapcar (lambda (r) (plist-get r :title)) remedies)))
                  (remedy (seq-find (lambda (r) (equal (plist-get r :title) title)) remedies)))
        ;; Eglot has them as a vector.
        (apply #'quarry--execute (plist-get remedy :command) (append (plist-get remedy :arguments) nil))))))

;;;###autoload
(defun quarry-stop ()
  "End what you have asked quarry for: an answer, a change, a download."
  (interactive)
  (let* ((connection (quarry--connected))
         (jobs (nth 2 (assq connection quarry--states))))
    (pcase-dolist (`(,token) jobs)
      (quarry--notify connection "window/workDoneProgress/cancel" (list :token token)))
    (message (if jobs "quarry: stopped" "quarry: nothing is under way"))))

;;;; Eglot

(defun quarry--eglot-p (server)
  "Whether SERVER is quarry."
  (equal (plist-get (eglot--server-info server) :name) "quarry"))

(with-eval-after-load 'eglot
  (advice-add 'eglot--on-shutdown :before #'quarry--server-ended)

  (cl-defmethod eglot-client-capabilities :extra "quarry" :around (_server)
    "Say that changes are shown here; other servers do not mind."
    (let* ((capabilities (cl-call-next-method))
           (experimental (plist-get capabilities :experimental)))
      (plist-put capabilities :experimental
                 `(:quarry (:proposals t :status t :documents t) ,@(and (consp experimental) experimental)))))

  (cl-defmethod eglot-handle-notification (server (_method (eql quarry/proposal)) &rest proposal)
    "Show PROPOSAL of SERVER."
    (quarry--propose `(:connection ,server :buffer nil :sent nil ,@proposal)))

  (cl-defmethod eglot-handle-notification (server (_method (eql quarry/proposal.end)) &key id &allow-other-keys)
    "Take the proposal ID of SERVER off the screen."
    (quarry--forget (quarry--find server id)))

  (cl-defmethod eglot-handle-notification (server (_method (eql quarry/status)) &rest status)
    "Keep STATUS of SERVER."
    (quarry--note-status server
                         `(:remedies ,(append (plist-get status :remedies) nil)
                           :remote ,(seq-some (lambda (s) (eq t (plist-get s :remote))) (plist-get status :sends))
                           ,@status)))

  (cl-defmethod eglot-handle-notification :extra "quarry" :before
    (server (_method (eql $/progress)) &key token value)
    "Keep what is under way, by TOKEN and VALUE, if SERVER is quarry."
    (when (quarry--eglot-p server)
      (quarry--note-progress server token (plist-get value :kind) (plist-get value :title) (plist-get value :message))))

  (cl-defmethod eglot-handle-request (server (_method (eql workspace/textDocumentContent/refresh)) &key uri &allow-other-keys)
    "The page URI of SERVER has grown."
    (quarry--page-grown server uri)
    nil)

  (cl-defmethod eglot-handle-request :extra "quarry" :around
    (server (_method (eql workspace/applyEdit)) &rest _)
    "Do not ask again about an edit of SERVER, if it is quarry."
    (let ((eglot-confirm-server-edits (unless (quarry--eglot-p server) eglot-confirm-server-edits)))
      (cl-call-next-method)))

  ;; Eglot by itself sends no answer on C-g, and has the first choice typed in already.
  (cl-defmethod eglot-handle-request :extra "quarry" :around
    (server (_method (eql window/showMessageRequest)) &key message actions &allow-other-keys)
    "Ask the user what SERVER asks by MESSAGE and ACTIONS, if it is quarry."
    (if (not (quarry--eglot-p server))
        (cl-call-next-method)
      (let ((chosen (quarry--choose message (mapcar (lambda (a) (plist-get a :title)) actions))))
        (and chosen (list :title chosen)))))

  (cl-defmethod eglot-handle-request :extra "quarry" :around
    (server (_method (eql window/showDocument)) &key uri selection &allow-other-keys)
    "Show URI at SELECTION, if SERVER is quarry."
    (if (not (quarry--eglot-p server))
        (cl-call-next-method)
      (quarry--show-soon server (list (project-root (eglot--project server))) uri #'eglot-uri-to-path
                         (when-let* ((start (plist-get selection :start)))
                           (list (plist-get start :line) (plist-get start :character)))))))

;;;; Lsp-mode

(defun quarry--on-question (_workspace params reply)
  "Answer window/showMessageRequest: ask the user as PARAMS say, and REPLY.
Lsp-mode by itself asks inside of the process filter.  There it sends no answer
at all on \\[keyboard-quit] or while another question is open, and the response
to a request that Emacs waits for takes the question off the screen."
  ;; An idle timer does not run while Emacs waits for a response.
  (run-with-idle-timer 0 nil #'quarry--when-free
                       (lambda (message titles)
                         (let ((chosen (quarry--choose message titles)))
                           (funcall reply (and chosen (list :title chosen)))))
                       nil
                       (lsp-get params :message)
                       (mapcar (lambda (a) (lsp-get a :title)) (lsp-get params :actions))))

(defun quarry--on-show (workspace params)
  "Answer window/showDocument of WORKSPACE: show the document of PARAMS.
Lsp-mode by itself fails while the minibuffer is in use."
  (quarry--show-soon workspace (list (lsp--workspace-root workspace)) ; of the session's folders the others are other projects
                     (lsp-get params :uri) #'lsp--uri-to-path
                     (when-let* ((start (lsp-get (lsp-get params :selection) :start)))
                       (list (lsp-get start :line) (lsp-get start :character)))))

(defun quarry--on-edit (_workspace params)
  "Answer workspace/applyEdit: make the edit of PARAMS.
A new file is made by its buffer.  Lsp-mode by itself writes it empty before
that, behind the back of the buffer that it has for it by then, and asks
whether to read it again."
  (condition-case err
      (let* ((edit (lsp-get params :edit)) (changes (lsp-get edit :documentChanges)) rest)
        (seq-doseq (change changes)
          (if (equal (lsp-get change :kind) "create")
              (make-directory (file-name-directory (lsp--uri-to-path (lsp-get change :uri))) t)
            (push change rest)))
        (lsp--apply-workspace-edit (if rest (lsp-put edit :documentChanges (vconcat (nreverse rest))) edit) 'server-requested)
        (list :applied t))
    (error (list :applied :json-false :failureReason (error-message-string err)))))

(defun quarry--on-refresh (workspace params)
  "Answer workspace/textDocumentContent/refresh of WORKSPACE.
The page that PARAMS name has grown."
  (quarry--page-grown workspace (lsp-get params :uri))
  nil)

(defun quarry--on-proposal (workspace params)
  "Show the proposal PARAMS of WORKSPACE."
  (quarry--propose `(:connection ,workspace :buffer nil :sent nil
                          ,@(mapcan (lambda (key) (list key (lsp-get params key)))
                                    '(:id :title :reason :basis :diff)))))

(defun quarry--on-status (workspace params)
  "Keep the status PARAMS of WORKSPACE."
  (quarry--note-status workspace
                       `(,@(mapcan (lambda (key) (list key (lsp-get params key))) '(:level :text :detail))
                         :remote ,(seq-some (lambda (s) (eq t (lsp-get s :remote))) (lsp-get params :sends))
                         :remedies ,(mapcar (lambda (r) (list :title (lsp-get r :title) :command (lsp-get r :command)
                                                              :arguments (lsp-get r :arguments)))
                                            (lsp-get params :remedies)))))

(defun quarry--on-progress (workspace params)
  "Keep what is under way in WORKSPACE, as PARAMS say; show it as lsp-mode does."
  (let ((value (lsp-get params :value)))
    (quarry--note-progress workspace (lsp-get params :token) (lsp-get value :kind) (lsp-get value :title) (lsp-get value :message)))
  (funcall lsp-progress-function workspace params))

(defun quarry--on-proposal-end (workspace params)
  "Take the proposal that PARAMS of WORKSPACE name off the screen."
  (quarry--forget (quarry--find workspace (lsp-get params :id))))

(with-eval-after-load 'lsp-mode
  (lsp-register-client
   (make-lsp-client
    :server-id 'quarry
    :new-connection (lsp-stdio-connection (lambda () quarry-command))
    :activation-fn #'always
    :add-on? t                          ; beside the language's own server
    :custom-capabilities '((experimental . ((quarry . ((proposals . t) (status . t) (documents . t))))))
    :notification-handlers (let ((handlers (make-hash-table :test 'equal)))
                             (puthash "quarry/proposal" #'quarry--on-proposal handlers)
                             (puthash "quarry/proposal.end" #'quarry--on-proposal-end handlers)
                             (puthash "quarry/status" #'quarry--on-status handlers)
                             (puthash "$/progress" #'quarry--on-progress handlers)
                             handlers)
    :request-handlers (let ((handlers (make-hash-table :test 'equal)))
                        (puthash "window/showDocument" #'quarry--on-show handlers)
                        (puthash "workspace/applyEdit" #'quarry--on-edit handlers)
                        (puthash "workspace/textDocumentContent/refresh" #'quarry--on-refresh handlers)
                        handlers)
    :async-request-handlers (let ((handlers (make-hash-table :test 'equal)))
                              (puthash "window/showMessageRequest" #'quarry--on-question handlers)
                              handlers)))
  (add-hook 'lsp-after-uninitialized-functions #'quarry--server-ended)
  (advice-add 'lsp--restart-if-needed :around #'quarry--restart)
  (advice-add 'lsp--parser-on-message :around #'quarry--hold-throw)
  (advice-add 'lsp--create-filter-function :filter-return #'quarry--throw-at-end))

;; Where a server has ended by itself, lsp-mode asks whether to start it again, and takes the next keys, which were meant for
;; the code, for the answer.  Eglot starts one again by itself, as is done here.

(defvar quarry--restarts nil
  "When servers were started again of late, in seconds, newest first.
By root.")

(defun quarry--restart (restart workspace)
  "Have RESTART start the server of WORKSPACE again, quarry's without a question.
The fourth time within three minutes it is left alone, in that project."
  (if (not (and (eq lsp-restart 'interactive)
                (eq 'quarry (lsp--client-server-id (lsp--workspace-client workspace)))
                (null (lsp--workspace-shutdown-action workspace))))
      (funcall restart workspace)
    (let* ((root (lsp--workspace-root workspace))
           (times (seq-filter (lambda (time) (< (- (quarry--now) time) 180)) (alist-get root quarry--restarts nil nil #'equal))))
      (if (nth 2 times)
          (message "quarry: the server ends again and again; start it with `M-x lsp', its buffer *quarry::stderr* says why")
        (setf (alist-get root quarry--restarts nil nil #'equal) (cons (quarry--now) times))
        (let ((lsp-restart 'auto-restart))
          (funcall restart workspace))))))

;; Where Emacs waits for a response, lsp-mode throws to `lsp-done' as soon as it has it.  Up to and including 10.0.0 that
;; leaves the process filter in the middle of what was read, and whatever the server sent right behind the response is
;; lost (lsp-mode's issue 4323).  So the throw is held back until all that was read is handled.

(defvar quarry--answered nil
  "Whether a response that Emacs waits for was in what is being handled.")

(defun quarry--hold-throw (handle &rest args)
  "Call HANDLE with ARGS, a message from a server; note that it threw."
  (when (catch 'lsp-done (apply handle args) nil)
    (setq quarry--answered t)))

(defun quarry--throw-at-end (filter)
  "FILTER, a process filter, that throws only when all messages are handled."
  (lambda (process input)
    (let (quarry--answered)
      (funcall filter process input)
      (when quarry--answered (throw 'lsp-done '_)))))

(provide 'quarry)
;;; quarry.el ends here
