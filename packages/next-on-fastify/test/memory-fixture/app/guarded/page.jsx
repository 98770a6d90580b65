export default function Page() {
  return <h1>For users</h1>
}
