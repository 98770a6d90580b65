import { redirect } from 'next/navigation'

export default function Moved(): never {
  redirect('/static')
}
