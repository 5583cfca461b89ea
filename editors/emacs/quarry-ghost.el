;;; quarry-ghost.el --- Ghost text within the window  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Lsp-mode shows ghost text as an overlay behind point, and Emacs scrolls a
;; window for point alone: lines of the overlay can lie below the window's last
;; row, and accepting inserts them unseen.  Here the window is scrolled for
;; them.  Where it has too few rows a hint says how many lines more there are;
;; where it has none, there is no ghost text.  Windows beside each other cut long
;; lines by default and scroll sideways for point: lines of ghost text that begin
;; left of such a window bring it back, or there is no ghost text.

;;; Code:

(require 'seq)
(require 'subr-x)

(defvar lsp-inline-completion--overlay)
(defvar lsp-inline-completion--start-point)
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

(defun quarry-ghost--truncated-p ()
  "Whether the selected window cuts lines that are too long for it."
  (or truncate-lines (> (window-hscroll) 0) (truncated-partial-width-window-p)))

(defun quarry-ghost--end (hscroll)
  "The column behind the last one in a window scrolled by HSCROLL."
  (+ hscroll (window-max-chars-per-line)))

(defun quarry-ghost--column ()
  "The column where the ghost text begins."
  (save-excursion
    (goto-char lsp-inline-completion--start-point)
    (current-column)))

(defun quarry-ghost--indentation (line)
  "The width of the blanks that LINE begins with."
  (string-width (substring line 0 (string-match "[^ \t]\\|\\'" line))))

(defun quarry-ghost--begins-p (hscroll)
  "Whether each line of the ghost text begins in a window scrolled by HSCROLL.
What is cut at the right is seen in its beginning."
  (or (not (quarry-ghost--truncated-p))
      (let ((first (if (> hscroll 0) (1+ hscroll) 0)) ; a sign of what is cut can stand there
            (end (quarry-ghost--end hscroll))
            (column (quarry-ghost--column)))
        (seq-every-p (lambda (line)
                       (let ((begin (+ column (quarry-ghost--indentation line))))
                         (setq column 0)
                         (or (string-blank-p line) (and (<= first begin) (< begin end)))))
                     (split-string (overlay-get lsp-inline-completion--overlay 'after-string) "\n")))))

(defun quarry-ghost--scroll-back ()
  "Scroll to column 0 if all of the ghost text begins there and point stays."
  (when (and (quarry-ghost--begins-p 0)
             (< (quarry-ghost--column) (- (quarry-ghost--end 0) hscroll-margin))) ; else Emacs scrolls again
    (set-window-hscroll nil 0)))

(defun quarry-ghost--hinted (lines more)
  "LINES with a hint that there are MORE, which is seen where lines are cut."
  (let* ((hint (propertize (format " … %d more line%s" more (if (= more 1) "" "s")) 'face 'shadow))
         (last (or (car (last lines)) ""))
         (room (- (quarry-ghost--end (window-hscroll)) (if (cdr lines) 0 (quarry-ghost--column)) (string-width hint))))
    (concat (string-join `(,@(butlast lines)
                           ,(if (quarry-ghost--truncated-p)
                                (truncate-string-to-width last (max (1+ (quarry-ghost--indentation last)) room))
                              last))
                         "\n")
            hint)))

(defun quarry-ghost--cut (text)
  "Show as many lines of TEXT as there is room for; nil if there is room for none."
  (let* ((lines (split-string text "\n"))
         (kept (length lines)))
    (while (and (> kept 0) (not (quarry-ghost--fits-p)))
      (setq kept (1- kept))
      (overlay-put lsp-inline-completion--overlay 'after-string
                   (quarry-ghost--hinted (take kept lines) (- (length lines) kept))))
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
      (unless (quarry-ghost--begins-p (window-hscroll)) (quarry-ghost--scroll-back))
      (unless (quarry-ghost--fits-p) (quarry-ghost--scroll))
      (cond ((not (quarry-ghost--begins-p (window-hscroll)))
             (lsp-inline-completion-cancel)
             (message "quarry: no room for ghost text: give the window more columns"))
            ((not (quarry-ghost--cut text))
             (lsp-inline-completion-cancel)
             (message "quarry: no room for ghost text: give the window more rows"))))))

(defun quarry-ghost--accept (accept &rest args)
  "Call ACCEPT with ARGS if the ghost text is in the window, else show it there."
  (if (or (not (overlayp lsp-inline-completion--overlay))
          (not (eq (window-buffer) (current-buffer)))
          (and (quarry-ghost--fits-p) (quarry-ghost--begins-p (window-hscroll))))
      (apply accept args)
    (quarry-ghost-into-view)
    (when (overlayp lsp-inline-completion--overlay)
      (message "quarry: not inserted: a part was outside the window; press again"))))

(with-eval-after-load 'lsp-inline-completion
  (add-hook 'lsp-inline-completion-shown-hook #'quarry-ghost-into-view)
  (advice-add 'lsp-inline-completion-accept :around #'quarry-ghost--accept))

(provide 'quarry-ghost)
;;; quarry-ghost.el ends here
