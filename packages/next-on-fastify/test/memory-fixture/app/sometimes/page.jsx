export default function Sometimes() {
  return <p>The proxy sees some requests of it</p>
}
