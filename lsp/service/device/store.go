package device

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Device is a program on another machine that has been paired.
type Device struct {
	ID     string    `json:"id"`
	Name   string    `json:"name" jsonschema:"as the user called it"`
	Key    []byte    `json:"key,omitempty" jsonschema:"its Ed25519 key"`
	Roots  []string  `json:"roots" jsonschema:"folders that it may search in"`
	Paired time.Time `json:"paired"`
}

// MaxDevices is how many may be paired at once.
const MaxDevices = 64

// Store keeps the paired devices and the service's certificate in files of a folder that is the
// user's alone. Its methods may be called concurrently; one process uses a folder at a time.
type Store struct {
	dir string
	mu  sync.Mutex // held while a file is changed
}

// NewStore keeps its files in a folder, which need not be there yet.
func NewStore(dir string) *Store { return &Store{dir: dir} }

const (
	devicesFile     = "devices.json"
	certificateFile = "certificate.pem"
	mostKept        = 1 << 20 // bytes of a file
)

// List are the devices, in the order they were paired.
func (s *Store) List() ([]Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list()
}

func (s *Store) list() ([]Device, error) {
	raw, err := s.read(devicesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Device
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("the paired devices: %w; remove %s and pair them again", err, filepath.Join(s.dir, devicesFile))
	}
	return list, nil
}

// ErrName says that a device of that name is paired already.
var ErrName = errors.New("a device of this name is paired: revoke it first, or take another name")

// Add pairs a device and answers it with its ID.
func (s *Store) Add(d Device) (Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.list()
	switch {
	case err != nil:
		return Device{}, err
	case slices.ContainsFunc(list, func(o Device) bool { return o.Name == d.Name }):
		return Device{}, ErrName
	case len(list) >= MaxDevices:
		return Device{}, fmt.Errorf("%d devices are paired: revoke one", len(list))
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	d.ID = hex.EncodeToString(id)
	return d, s.write(devicesFile, append(list, d))
}

// Remove revokes the device with that name or ID, and answers it.
func (s *Store) Remove(name string) (Device, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.list()
	if err != nil {
		return Device{}, err
	}
	i := slices.IndexFunc(list, func(d Device) bool { return d.Name == name || d.ID == name })
	if i < 0 {
		return Device{}, fmt.Errorf("no device %q is paired: `quarry serve devices` lists them", name)
	}
	gone := list[i]
	return gone, s.write(devicesFile, slices.Delete(list, i, i+1))
}

// Find is the device with that ID.
func (s *Store) Find(id string) (Device, bool, error) {
	list, err := s.List()
	i := slices.IndexFunc(list, func(d Device) bool { return d.ID == id })
	if err != nil || i < 0 {
		return Device{}, false, err
	}
	return list[i], true, nil
}

// Identity is the service's certificate, signed by itself, and its fingerprint. It is made at the
// first call and stays, since devices take no other.
func (s *Store) Identity(now time.Time) (tls.Certificate, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err := s.read(certificateFile)
	if errors.Is(err, fs.ErrNotExist) {
		if raw, err = newCertificate(now); err == nil {
			err = s.write(certificateFile, raw)
		}
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.X509KeyPair(raw, raw)
	}
	if err != nil {
		return pair, nil, fmt.Errorf("the certificate of the service: %w; without %s a new one is made, and devices must pair again", err, filepath.Join(s.dir, certificateFile))
	}
	return pair, Certificate(pair.Certificate[0]), nil
}

// lasting is how long a certificate is good: devices know it by its fingerprint, not by its dates.
const lasting = 30 * 365 * 24 * time.Hour

// newCertificate is a key and a certificate of it, as PEM.
func newCertificate(now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "quarry serve"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(lasting),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"quarry"},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}

// read reads a file that is plain, of a size that is right, and nobody else's to write.
func (s *Store) read(name string) ([]byte, error) {
	path := filepath.Join(s.dir, name)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostKept:
		return nil, errors.New("it is no plain file of quarry's")
	case isOpen(info):
		return nil, errors.New("other users may read or write it")
	}
	return os.ReadFile(path)
}

// write replaces a file at once and for the user alone. What is no text is written as JSON.
func (s *Store) write(name string, value any) error {
	raw, ok := value.([]byte)
	if !ok {
		var err error
		if raw, err = json.MarshalIndent(value, "", "  "); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, name+".*") // for the user alone
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.dir, name))
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
