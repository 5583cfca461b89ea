;;; quarry-ghost.el --- Ghost text within the window  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Lsp-mode shows ghost text as an overlay behind point, and Emacs scrolls a
;; window for point alone: lines of the overlay can lie below the window's last
;; row, and accepting inserts them unseen.  Here the window is scrolled for
;; them.  Where it has too few rows a hint says how many lines more there are;
;; where it has none, there is no ghost text.

;;; Code:

(defvar lsp-inline-completion--overlay)
(declare-function lsp-inline-completion-cancel "ext:lsp-inline-completion")

(defun quarry-ghost--height ()
  "The rows of the selected window that show text."
  (floor (window-screen-lines)))

(defun quarry-ghost--rows (from)
  "The rows from position FROM to the end of point's line, ghost text included."
  (save-restriction
    (widen)
    (count-screen-lines from (min (point-max) (1+ (pos-eol))))))

(defun quarry-ghost--fits-p ()
  "Whether the end of the ghost text is in the window."
  (<= (quarry-ghost--rows (window-start)) (quarry-ghost--height)))

(defun quarry-ghost--scroll ()
  "Scroll for the ghost text, but leave a third of the window above."
  (let* ((height (quarry-ghost--height))
         (before (count-screen-lines (pos-bol) (max (pos-bol) (1- (point))) t))
         (top (max (/ height 3) (- height (quarry-ghost--rows (pos-bol))))))
    (recenter (min (1- height) (+ top (max 0 (1- before)))))))

(defun quarry-ghost--cut (text)
  "Show as many lines of TEXT as there is room for; nil if there is room for none."
  (let* ((lines (split-string text "\n"))
         (kept (length lines))
         (hint (lambda (n) (propertize (format " … %d more line%s" n (if (= n 1) "" "s")) 'face 'shadow))))
    (while (and (> kept 0) (not (quarry-ghost--fits-p)))
      (setq kept (1- kept))
      (overlay-put lsp-inline-completion--overlay 'after-string
                   (concat (string-join (take kept lines) "\n") (funcall hint (- (length lines) kept)))))
    (and (> kept 0)
         (not (string-blank-p (string-join (take kept lines)))))))

;;;###autoload
(defun quarry-ghost-into-view ()
  "Have the selected window show the ghost text, or as much as it can."
  (when (and (overlayp lsp-inline-completion--overlay) (eq (window-buffer) (current-buffer)))
    (let* ((overlay lsp-inline-completion--overlay)
           (text (or (overlay-get overlay 'quarry-ghost-text) (overlay-get overlay 'after-string))))
      (overlay-put overlay 'quarry-ghost-text text)
      (overlay-put overlay 'after-string text)
      (unless (quarry-ghost--fits-p) (quarry-ghost--scroll))
      (unless (quarry-ghost--cut text)
        (lsp-inline-completion-cancel)
        (message "quarry: no room for ghost text: give the window more rows")))))

(defun quarry-ghost--accept (accept &rest args)
  "Call ACCEPT with ARGS if the ghost text is in the window, else show it there."
  (if (or (not (overlayp lsp-inline-completion--overlay))
          (not (eq (window-buffer) (current-buffer)))
          (quarry-ghost--fits-p))
      (apply accept args)
    (quarry-ghost-into-view)
    (message "quarry: not inserted: a part was below the window; press again")))

(with-eval-after-load 'lsp-inline-completion
  (add-hook 'lsp-inline-completion-shown-hook #'quarry-ghost-into-view)
  (advice-add 'lsp-inline-completion-accept :around #'quarry-ghost--accept))

(provide 'quarry-ghost)
;;; quarry-ghost.el ends here
