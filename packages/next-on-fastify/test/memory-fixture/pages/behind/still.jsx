export default function Page() {
  return <h1>the same for all, without data</h1>
}
