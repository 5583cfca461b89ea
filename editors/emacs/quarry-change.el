;;; quarry-change.el --- Changes that quarry proposes  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The changes that the server proposes, for quarry.el.  Each is shown in a
;; window of its own as a diff, with the reason and what it rests on, once
;; nothing was typed for a while.  The window is not selected: no key that was
;; meant for something else can answer there.

;;; Code:

(require 'diff-mode)
(require 'seq)
(require 'subr-x)

(declare-function quarry--alive-p "quarry")
(declare-function quarry--literal "quarry")
(declare-function quarry--request "quarry")
(declare-function quarry--when-free "quarry")

(defvar quarry--proposals nil
  "Those that nobody has decided, the oldest first; only the first is shown.
Each is a plist with :id, :title, :reason, :basis and :diff as docs/protocol.md
has them, :connection, to the server, and :buffer once it is shown.")

(defvar quarry--last-command 0
  "When the last command ended that was not one in the minibuffer.")

(defconst quarry--pause 1.0
  "How long nothing must have been typed before a change is shown, in seconds.")

(defconst quarry--hasty 0.3
  "How close behind another command a yes does not count, in seconds.")

(defun quarry--now () "The time in seconds." (float-time))

(defun quarry--note-command ()
  "Note when a command ended."
  (unless (minibufferp) (setq quarry--last-command (quarry--now))))

(defun quarry--find (connection id)
  "The proposal ID of CONNECTION."
  (seq-find (lambda (p) (and (eq (plist-get p :connection) connection) (equal (plist-get p :id) id))) quarry--proposals))

(defun quarry--propose (proposal)
  "Show PROPOSAL when nothing is typed, unless it is known or its server has ended."
  (when (and (quarry--alive-p (plist-get proposal :connection))
             (not (quarry--find (plist-get proposal :connection) (plist-get proposal :id))))
    (unless quarry--proposals (add-hook 'post-command-hook #'quarry--note-command))
    (setq quarry--proposals (append quarry--proposals (list proposal)))
    (quarry--show-next)))

(defun quarry--show-next ()
  "Show the first proposal when nothing is typed, unless it is shown already."
  (run-with-timer 0 nil #'quarry--when-free #'quarry--show-proposal quarry--pause))

(defun quarry--show-proposal ()
  "Show the first proposal, unless it is shown already."
  (when-let* ((p (car quarry--proposals)) ((not (plist-get p :buffer))))
    (let ((buffer (generate-new-buffer "*quarry change*")))
      (plist-put p :buffer buffer)
      (with-current-buffer buffer
        ;; A blank before them keeps the words from being taken for lines of the diff.
        (dolist (text (list (plist-get p :reason) (plist-get p :basis)))
          (insert (replace-regexp-in-string "^" " " (string-trim text)) "\n"))
        (insert "\n" (string-trim-right (plist-get p :diff)) "\n")
        (goto-char (point-min))
        (quarry-change-mode)
        (setq header-line-format
              (list (quarry--literal (plist-get p :title)) (substitute-command-keys "   \\[quarry-apply] applies, \\[quarry-discard] discards")))
        (add-hook 'kill-buffer-hook (lambda () (quarry--decide p nil)) nil t))
      (display-buffer buffer '(nil (inhibit-same-window . t))))))

(defun quarry--forget (p)
  "There is nothing left to decide about P."
  (when (memq p quarry--proposals)
    (setq quarry--proposals (delq p quarry--proposals))
    (unless quarry--proposals (remove-hook 'post-command-hook #'quarry--note-command))
    (when (buffer-live-p (plist-get p :buffer))
      (quit-windows-on (plist-get p :buffer) t))
    (quarry--show-next)))

(defun quarry--lose (connection)
  "Forget the proposals of CONNECTION, whose server has ended, and return them."
  (let ((lost (seq-filter (lambda (p) (eq (plist-get p :connection) connection)) quarry--proposals)))
    (mapc #'quarry--forget lost)
    lost))

(defun quarry--decide (p apply)
  "Tell the server to apply P, or that it is discarded if APPLY is nil."
  (when (and (memq p quarry--proposals) (not (plist-get p :sent)))
    (plist-put p :sent t)
    (quarry--request (plist-get p :connection) "quarry/decide" (list :id (plist-get p :id) :apply (if apply t :json-false))
                     (lambda (result problem)
                       (plist-put p :sent nil)
                       (unless (eq t (funcall result :open)) (quarry--forget p))
                       (let ((text (or problem (funcall result :message))))
                         (unless (string-empty-p text) (message "quarry: %s" text)))))))

(defun quarry--shown ()
  "The proposal that is shown."
  (or (seq-find (lambda (p) (buffer-live-p (plist-get p :buffer))) quarry--proposals)
      (user-error "No change is proposed; `quarry-fix' asks for one")))

(defun quarry--hurried-p ()
  "Whether an answer comes so soon after a command that it may belong to that."
  (< (- (quarry--now) quarry--last-command) quarry--hasty))

(defun quarry-apply ()
  "Make the change that quarry proposes.  One undo takes it back."
  (interactive)
  (let ((p (quarry--shown)))
    (if (quarry--hurried-p)
        (message "quarry: not applied: a key came just before; answer again")
      (quarry--decide p t))))

(defun quarry-discard ()
  "Discard the change that quarry proposes."
  (interactive)
  (let ((p (quarry--shown)))
    (if (quarry--hurried-p)
        (message "quarry: not discarded: a key came just before; answer again")
      (quarry--decide p nil))))

(defvar-keymap quarry-change-mode-map
  "C-c C-c" #'quarry-apply
  "C-c C-k" #'quarry-discard)

(define-derived-mode quarry-change-mode diff-mode "Change"
  "A change that quarry proposes."
  (setq buffer-read-only t))

(provide 'quarry-change)
;;; quarry-change.el ends here
