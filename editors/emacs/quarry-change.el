;;; quarry-change.el --- Changes that quarry proposes  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The changes that the server proposes, for quarry.el.  Each is shown in a
;; window of its own as a diff, with the reason and what it rests on, once
;; nothing was typed for a while.  The window is not selected: no key that was
;; meant for something else can answer there.  It begins so that changed lines are
;; on the screen, and no change is made before each of its lines was, to its end.

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
    (unless quarry--proposals
      (add-hook 'pre-command-hook #'quarry--look)
      (add-hook 'post-command-hook #'quarry--note-command))
    (setq quarry--proposals (append quarry--proposals (list proposal)))
    (quarry--show-next)))

(defun quarry--show-next ()
  "Show the first proposal when nothing is typed, unless it is shown already."
  (run-with-timer 0 nil #'quarry--when-free #'quarry--show-proposal quarry--pause))

(defvar-local quarry--changed nil
  "Where the changed lines of a change begin and end, in order.")

(defvar-local quarry--unseen nil
  "The parts of `quarry--changed' that were never on the screen, in order.
Of a line that is longer than the window, a part may be left.")

(defun quarry--changed-lines ()
  "Where the changed lines of the diff in this buffer begin and end."
  (let (lines)
    (save-excursion
      (goto-char (point-min))
      (while (not (eobp))
        (cond ((looking-at "--- .*\n\\+\\+\\+ .*\n@@") (forward-line))
              ((looking-at "[-+]") (push (cons (point) (pos-eol)) lines)))
        (forward-line)))
    (nreverse lines)))

(defun quarry--mark-rows (lines)
  "Have each row of LINES begin with its line's sign, however many rows it has."
  (pcase-dolist (`(,beg . ,end) lines)
    (put-text-property beg end 'wrap-prefix (buffer-substring-no-properties beg (1+ beg)))))

(defun quarry--whole-lines ()
  "Have the window show each line to its end, in as many rows as it takes."
  (setq-local truncate-lines nil truncate-partial-width-windows nil
              buffer-invisibility-spec nil) ; whatever folds other diffs
  (set-window-hscroll nil 0))

(defun quarry--bottom (start)
  "The end of what fits into the selected window from START on."
  (save-excursion
    (goto-char start)
    (vertical-motion (floor (window-screen-lines)))
    (point)))

(defun quarry--without (parts top bottom)
  "What is left of PARTS of a buffer without that from TOP to BOTTOM."
  (seq-mapcat (pcase-lambda (`(,beg . ,end))
                (append (and (< beg top) (list (cons beg (min end top))))
                        (and (< bottom end) (list (cons (max beg bottom) end)))))
              parts))

(defun quarry--look ()
  "Note what of the changed lines is on the screen, as a command begins."
  (dolist (p quarry--proposals)
    (dolist (window (and (buffer-live-p (plist-get p :buffer)) (get-buffer-window-list (plist-get p :buffer) nil 'visible)))
      (with-selected-window window
        (unless (or truncate-lines (> (window-hscroll) 0)) ; then lines are cut
          (setq quarry--unseen (quarry--without quarry--unseen (window-start) (quarry--bottom (window-start)))))))))

(defun quarry--change-header (p keys)
  "What stands above the change P: KEYS, what stands below, and what it is for.
That is its reason where the window does not show it."
  (let* ((bottom (quarry--bottom (window-start)))
         (below (seq-count (pcase-lambda (`(,_ . ,end)) (> end bottom)) quarry--changed)))
    (quarry--literal
     (concat keys
             (and (> below 0) (format "   %d changed line%s below" below (if (= below 1) "" "s")))
             "   " (if (= (window-start) (point-min)) (plist-get p :title)
                     (string-replace "\n" " " (string-trim (plist-get p :reason))))))))

(defun quarry--reveal (buffer)
  "Show the first changed lines of BUFFER that were not seen.
What stands above them is shown as far as there is room; of a line that is
longer than the window, the rest is shown."
  (when-let* ((window (or (get-buffer-window buffer 'visible)
                          (display-buffer buffer '(nil (inhibit-same-window . t))))))
    (with-selected-window window
      (quarry--whole-lines)
      (let ((height (window-height)) (all (window-height (frame-root-window))))
        (fit-window-to-buffer nil (max height (/ all 2) (min 16 (- all 7))) height))
      (pcase-let* ((`((,beg . ,end) ,next) (take 2 quarry--unseen))
                   ;; A line and what takes its place.
                   (last (if (and end (eql (car next) (1+ end))) (cdr next) end))
                   (hunk (and beg (save-excursion (goto-char beg) (re-search-backward "^@@" nil t) (point))))
                   (start (and beg (or (seq-find (lambda (start) (<= last (quarry--bottom start))) (list (point-min) hunk)) beg))))
        (when start
          (set-window-start nil start)
          (set-window-point nil start))))))

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
        (quarry--mark-rows (quarry--changed-lines))
        (quarry-change-mode)
        (setq quarry--changed (quarry--changed-lines)
              quarry--unseen quarry--changed
              header-line-format
              (let ((keys (substitute-command-keys "\\[quarry-apply] applies, \\[quarry-discard] discards")))
                `(:eval (quarry--change-header ',p ,keys))))
        (add-hook 'kill-buffer-hook (lambda () (quarry--decide p nil)) nil t))
      (quarry--reveal buffer))))

(defun quarry--forget (p)
  "There is nothing left to decide about P."
  (when (memq p quarry--proposals)
    (setq quarry--proposals (delq p quarry--proposals))
    (unless quarry--proposals
      (remove-hook 'pre-command-hook #'quarry--look)
      (remove-hook 'post-command-hook #'quarry--note-command))
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
  "Make the change that quarry proposes.  One undo takes it back.
While changed lines were never on the screen, show the next of them instead."
  (interactive)
  (let* ((p (quarry--shown)) (buffer (plist-get p :buffer)) (unseen (length (buffer-local-value 'quarry--unseen buffer))))
    (cond ((quarry--hurried-p) (message "quarry: not applied: a key came just before; answer again"))
          ((> unseen 0)
           (quarry--reveal buffer)
           (message "quarry: not applied: look and answer again (changed lines not seen yet: %d)" unseen))
          (t (quarry--decide p t)))))

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
