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

(provide 'quarry-test)
;;; quarry-test.el ends here
