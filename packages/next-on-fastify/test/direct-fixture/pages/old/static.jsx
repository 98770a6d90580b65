export default function Page() {
  return <h1>Old static</h1>
}
