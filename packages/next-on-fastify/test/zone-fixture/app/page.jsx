export default function Page() {
  return <h1>Home of {process.env.ZONE}</h1>
}
