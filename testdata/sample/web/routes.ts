import { openShelf, type Item } from "./shelf";

export async function getItem(request: Request, name: string): Promise<Response> {
  const shelf = await openShelf(request.headers.get("x-shop"));
  const item = shelf.get(name);
  if (item === undefined) {
    return new Response("no such item", { status: 404 });
  }
  return Response.json(item);
}

export async function putItem(request: Request, name: string): Promise<Response> {
  const shelf = await openShelf(request.headers.get("x-shop"));
  const item: Item = await request.json();
  shelf.put({ ...item, name });
  return new Response(null, { status: 204 });
}

export async function removeItem(request: Request, name: string): Promise<Response> {

}
