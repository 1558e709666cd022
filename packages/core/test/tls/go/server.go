// An HTTPS server that requires a client certificate, like kube-apiserver. It prints its port on standard output, responds
// with the CN of the client and the protocol, and exits when its standard input ends.
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
	ca := flag.String("ca", "", "CA of the client certificates")
	p384 := flag.Bool("p384", false, "accept only P-384, so that clients get a HelloRetryRequest")
	timeout := flag.Duration("timeout", time.Minute, "limit for a handshake")
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
		// net/http also applies it to the handshake.
		ReadHeaderTimeout: *timeout,
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
