// An automatic browser for kubelogin: follows redirects, keeps cookies, and runs no scripts. The issuer logs every browser
// in as the same user.

let next = process.argv[2]
const cookies = new Map()

while (next !== null) {
  const url = new URL(next)
  const jar = cookies.get(url.host) ?? new Map()
  cookies.set(url.host, jar)
  const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
  const answer = await fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } })
  await answer.arrayBuffer()
  for (const line of answer.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
    jar.set(name, value)
  }
  if (answer.status >= 400)
    throw new Error(`${url.origin}${url.pathname} answered ${answer.status}`)
  const location = answer.headers.get('location')
  next = location === null ? null : new URL(location, url).href
}
