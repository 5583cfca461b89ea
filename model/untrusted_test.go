package model

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"strings"
	"testing"
)

// What is advised of a certificate helps against what is wrong with it.
func TestUntrusted(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "10.0.0.1:443"}
	for _, test := range []struct {
		cause error
		want  string
	}{
		{x509.UnknownAuthorityError{}, "untrusted certificate: add its authority to the system's, or name that file in SSL_CERT_FILE (10.0.0.1:443, "},
		{x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a.example"}}, Host: "b.example"}, "certificate for another name: set the address to that name, or give the server one for its own (10.0.0.1:443, x509: certificate is valid for a.example, not b.example)"},
		{x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired}, "certificate out of date: have it renewed, or set this machine's clock (10.0.0.1:443, "},
		{x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.NotAuthorizedToSign}, "untrusted certificate: add its authority"},
	} {
		if got := untrusted(at, &tls.CertificateVerificationError{Err: test.cause}); got == nil || !strings.HasPrefix(got.Error(), test.want) || !errors.Is(got, ErrServer) {
			t.Errorf("%v, want %s", got, test.want)
		}
	}
	if err := untrusted(at, errors.New("refused")); err != nil {
		t.Errorf("of another error: %v", err)
	}
}
