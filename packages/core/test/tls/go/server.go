// An HTTPS server of Go that wants a client certificate, as kube-apiserver is one. It says on its standard output where
// it listens, answers with who asks over which protocol, and ends with its standard input.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	cert := flag.String("cert", "", "certificate of the server")
	key := flag.String("key", "", "its key")
	ca := flag.String("ca", "", "who signs the certificates of clients")
	p384 := flag.Bool("p384", false, "take only P-384, so that clients have to begin again")
	patience := flag.Duration("patience", time.Minute, "how long a handshake may take")
	flag.Parse()

	pair, err := tls.LoadX509KeyPair(*cert, *key)
	must(err)
	pem, err := os.ReadFile(*ca)
	must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	config := &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
	}
	if *p384 {
		config.CurvePreferences = []tls.CurveID{tls.CurveP384}
	}
	server := &http.Server{
		TLSConfig: config,
		// net/http uses it for the handshake too.
		ReadHeaderTimeout: *patience,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprintf(w, "%s %s %d", r.TLS.PeerCertificates[0].Subject.CommonName, r.Proto, n)
		}),
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	must(server.ServeTLS(listener, "", ""))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
