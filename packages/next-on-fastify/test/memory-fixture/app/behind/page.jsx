export default function Behind() {
  return <p>Rendered at build, behind the proxy. {'It is long enough to be compressed. '.repeat(50)}</p>
}
