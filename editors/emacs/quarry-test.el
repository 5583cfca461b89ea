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
    (should (equal (quarry--show-soon file 1 5) '(:success t)))
    (sit-for 0.1)
    (let ((window (get-buffer-window (get-file-buffer file))))
      (with-current-buffer (window-buffer window)
        (should (equal (char-before (window-point window)) ?é))
        (kill-buffer))))
  (should (equal (quarry--show-soon "/nowhere") '(:success :json-false))))

;; A yes close behind another command does not count; it is said, and the change stays.
(ert-deftest quarry-test-hasty-yes ()
  (let* ((now 1000) sent said
         (quarry--proposals nil)
         (quarry--last-command 0)
         (inhibit-message t))
    (cl-letf (((symbol-function 'quarry--now) (lambda () now))
              ((symbol-function 'current-idle-time) (lambda () (seconds-to-time 2)))
              ((symbol-function 'message) (lambda (&rest args) (push (apply #'format args) said))))
      (quarry--propose (list :id "1" :title "Fix" :reason "Why.\n--- not a diff" :basis "Confidence: high." :diff "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"
                             :connection 'here :buffer nil :sent nil
                             :request (lambda (_connection method params done)
                                        (push (list method (plist-get params :apply)) sent)
                                        (funcall done nil ""))))
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
      (should (equal said '("quarry: not applied: another key came just before; answer again")))
      (should-not sent)
      (setq now 1000.31)
      (quarry-apply)
      (should (equal sent '(("quarry/decide" t))))
      (should-not quarry--proposals)
      (should-not (memq #'quarry--note-command post-command-hook)))))

(provide 'quarry-test)
;;; quarry-test.el ends here
