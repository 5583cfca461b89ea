;;; quarry-page.el --- Explanations and answers of quarry  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The pages that quarry writes, for quarry.el: Markdown is shown as it is meant,
;; the places that a page names are buttons, and all pages share one window, which
;; leaves the code where it is.

;;; Code:

(require 'button)
(require 'seq)
(require 'text-property-search)

(declare-function quarry-stop "quarry")

(defface quarry-page-heading '((t :inherit bold :height 1.15))
  "Headings."
  :group 'quarry)

(defface quarry-page-code '((t :inherit (fixed-pitch font-lock-constant-face)))
  "Code within a line."
  :group 'quarry)

(defface quarry-page-block '((t :inherit fixed-pitch :extend t))
  "Lines of code, below what their language's mode says."
  :group 'quarry)

(defvar-keymap quarry-page-mode-map
  :doc "Keys in an explanation or answer."
  :parent (make-composed-keymap button-buffer-map special-mode-map)
  "k" #'quarry-stop)

(define-derived-mode quarry-page-mode special-mode "Answer"
  "An explanation or answer of quarry's."
  (visual-line-mode 1))

;;;; The window

(defun quarry-page-display (buffer)
  "Show BUFFER, a page, in the window of the last one, or else beside the code."
  (display-buffer buffer '((display-buffer-reuse-window quarry-page--reuse display-buffer-pop-up-window)
                           (inhibit-same-window . t))))

(defun quarry-page--reuse (buffer alist)
  "Show BUFFER in the window of the last page; ALIST is as for display actions."
  (when-let* ((window (get-window-with-predicate
                       (lambda (w) (eq 'quarry-page-mode (buffer-local-value 'major-mode (window-buffer w)))))))
    (window--display-buffer buffer window 'reuse alist)))

(defun quarry-page-fill (buffer markdown roots)
  "Have BUFFER show MARKDOWN, in which places below ROOTS are buttons.
Windows whose reader has moved in it stay where they are, the others follow what
is written once they show its end.  What comes whole begins at the top."
  (with-current-buffer buffer
    (let* ((inhibit-read-only t)
           (last (point-max))
           (windows (mapcar (lambda (w)
                              (list w (window-start w) (window-point w)
                                    (and (not (eq w (selected-window))) (> last (point-min))
                                         (or (= (window-point w) last)
                                             (and (= (window-point w) (point-min)) (pos-visible-in-window-p last w))))))
                            (get-buffer-window-list buffer nil t))))
      (erase-buffer)
      (insert (quarry-page--rendered markdown))
      (quarry-page--link-places roots)
      (pcase-dolist (`(,w ,start ,point ,follows) windows)
        (set-window-start w (min start (point-max)) t)
        (set-window-point w (if follows (point-max) (min point (point-max))))
        (when (and follows (not (pos-visible-in-window-p (point-max) w)))
          (with-selected-window w (recenter -1))))))) ; Emacs itself would leave half of the window empty

;;;; Places

(defun quarry-page--link-places (roots)
  "Make a button of every place below ROOTS that the buffer names."
  (save-excursion
    ;; A name with a blank, brackets or signs of Markdown is all of a piece of code.
    (goto-char (point-min))
    (while-let ((span (text-property-search-forward 'quarry-page-code t t)))
      (let ((beg (prop-match-beginning span)) (end (prop-match-end span)))
        (goto-char beg)
        (when (looking-at "\\([^\n]+\\):\\([0-9]+\\)\\(?:-[0-9]+\\)?")
          (quarry-page--link beg end roots))
        (goto-char end)))
    (goto-char (point-min))
    ;; The lines are looked for first, and the name from there back: forward, each letter of a word without end may begin one.
    (let ((from (point)))
      (while (re-search-forward ":[0-9]+\\(?:-[0-9]+\\)?" nil t)
        (let ((end (point)))
          (goto-char (match-beginning 0))
          (when (/= 0 (skip-chars-backward "^][:space:]:`\"'<>()|*[" from))
            (let ((beg (point)))
              (unless (button-at beg)
                (looking-at "\\([^:]+\\):\\([0-9]+\\)\\(?:-[0-9]+\\)?")
                (quarry-page--link beg end roots)))
            (setq from end))
          (goto-char end))))))

(defun quarry-page--link (beg end roots)
  "Make a button from BEG to END, all of what was matched, if it is below ROOTS."
  (when-let* (((= end (match-end 0))) (line (string-to-number (match-string 2)))
              (file (quarry-page--find (match-string-no-properties 1) roots)))
    (make-text-button beg end 'face 'link 'follow-link t 'help-echo "Go there"
                      'action (lambda (_) (quarry-page--visit file line)))))

(defun quarry-page--find (name roots)
  "The file NAME, as quarry cites it, in the folders ROOTS, or nil.
Where there are several, a name begins with that of its folder."
  (seq-some (lambda (root)
              (let* ((first (concat (file-name-nondirectory (directory-file-name root)) "/"))
                     (file (expand-file-name (if (and (cdr roots) (string-prefix-p first name)) (substring name (length first)) name) root)))
                (and (string-prefix-p (file-name-as-directory (expand-file-name root)) file) (file-regular-p file) file)))
            roots))

(defun quarry-page--visit (file line)
  "Go to LINE of FILE, in another window than the selected one."
  (pop-to-buffer (find-file-noselect file) '(nil (inhibit-same-window . t)))
  (goto-char (point-min))
  (forward-line (1- line)))

;;;; Markdown

;; The server sends the harmless part of it: headings, lists, emphasis and code; what would be more stands there as numbers of
;; characters, `&#60;'.  Words of a model run nothing here and turn nothing on.

(defun quarry-page--rendered (markdown)
  "MARKDOWN as it is meant."
  (with-temp-buffer
    (insert markdown)
    (goto-char (point-min))
    (while (not (eobp))
      (cond ((looking-at "\\(```+\\|~~~+\\)\\([^`\n]*\\)\n?") (quarry-page--block (match-string 1) (string-trim (match-string 2))))
            ((looking-at "#+ +") (quarry-page--line 'quarry-page-heading))
            ((looking-at "---+[ \t]*$")
             (replace-match (propertize " " 'display '(space :align-to right) 'face '(:strike-through t)) t t)
             (forward-line))
            (t (quarry-page--line nil))))
    (buffer-string)))

(defun quarry-page--line (face)
  "Render this line in FACE, without its mark, and go to the next one."
  (let ((end (copy-marker (pos-eol))))
    (cond (face (delete-region (point) (match-end 0)))
          ((looking-at "[ \t]*\\([-*+]\\) +")
           (replace-match "•" t t nil 1)
           (put-text-property (pos-bol) end 'wrap-prefix (make-string (- (match-end 0) (pos-bol)) ?\s))))
    (let ((beg (point)))
      (quarry-page--spans beg end)
      (quarry-page--emphasis beg end)
      (when face (add-face-text-property beg end face t)))
    (goto-char end)
    (set-marker end nil)
    (forward-line)))

(defun quarry-page--spans (beg end)
  "Render the code and the numbers of characters from BEG to END.
Both are marked, since they are no emphasis."
  (goto-char beg)
  (while (re-search-forward "`+\\|&#\\([0-9]\\{1,6\\}\\);\\|\\\\\\([[:punct:]]\\)" end t)
    (let* ((from (match-beginning 0)) (marks (match-string 0))
           (char (cond ((match-beginning 1) (string (min (string-to-number (match-string 1)) (max-char t))))
                       ((match-beginning 2) (match-string 2)))))
      (if char
          (replace-match (propertize char 'quarry-page-literal t) t t)
        (let ((start (point)))
          (when (re-search-forward (concat "\\([^`]\\)" marks "\\(?:[^`]\\|$\\)") end t)
            (let ((close (match-end 1)))
              (delete-region close (+ close (length marks)))
              (delete-region from start)
              (setq close (- close (length marks)))
              (add-text-properties from close '(quarry-page-literal t quarry-page-code t face quarry-page-code))
              (goto-char close))))))))

(defun quarry-page--emphasis (beg end)
  "Render the emphasis from BEG to END, which is of a line."
  (goto-char beg)
  (while (re-search-forward "\\(\\*\\*\\|__\\|[*_]\\)\\([^ \t*_]\\(?:[^*_\n]*[^ \t*_\n]\\)?\\)\\1" end t)
    (let ((from (match-beginning 0)) (to (match-end 0)) (long (= 2 (- (match-end 1) (match-beginning 1)))))
      (if (or (get-text-property from 'quarry-page-literal) (get-text-property (1- to) 'quarry-page-literal)
              (quarry-page--word-p (char-before from)) (quarry-page--word-p (char-after to)))
          (goto-char (1+ from))
        (add-face-text-property from to (if long 'bold 'italic))
        (replace-match (match-string 2) t t)))))

(defun quarry-page--word-p (char)
  "Whether CHAR, which may be nil, is of a word."
  (and char (memq (char-syntax char) '(?w ?_))))

(defun quarry-page--block (fence language)
  "Render the lines of code of LANGUAGE up to FENCE; point is on its first one."
  (let ((beg (point)))
    (delete-region beg (match-end 0))
    (let* ((closed (re-search-forward (concat "^" fence "[ \t]*\\(?:\n\\|\\'\\)") nil t)) ; it may be written still
           (end (if closed (match-beginning 0) (point-max)))
           (code (quarry-page--fontified (buffer-substring-no-properties beg end) (quarry-page--mode language))))
      (delete-region beg (or closed end))
      (goto-char beg)
      (insert (propertize code 'line-prefix "  " 'wrap-prefix "  "))
      (add-face-text-property beg (point) 'quarry-page-block t))))

(defun quarry-page--mode (language)
  "The mode for LANGUAGE, a word of a model's, or nil.
It is one that a file's name alone would choose, for programs."
  (let* ((named (intern-soft (concat (downcase language) "-mode")))
         (mode (if (and named (rassq named auto-mode-alist))
                   named
                 (assoc-default (concat "a." language) auto-mode-alist #'string-match-p))))
    (when (and (not (string-empty-p language)) (symbolp mode) (fboundp mode))
      (autoload-do-load (symbol-function mode) mode)
      (and (provided-mode-derived-p mode '(prog-mode diff-mode)) mode))))

(defun quarry-page--fontified (code mode)
  "CODE in the colours of MODE."
  (or (and mode
           (ignore-errors
             (with-temp-buffer
               (insert code)
               (let ((inhibit-message t) (message-log-max nil) (enable-local-variables nil))
                 (delay-mode-hooks (funcall mode))
                 (font-lock-ensure))
               (buffer-string))))
      code))

(provide 'quarry-page)
;;; quarry-page.el ends here
