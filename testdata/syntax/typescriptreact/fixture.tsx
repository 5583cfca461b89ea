import React, { useState } from "react";
import { Button } from "./Button";

/** What the list shows. */
interface Props {
  items: Item[];
  onPick?: (item: Item) => void;
}

// The list of items.
export const List: React.FC<Props> = ({ items, onPick }) => {
  const [open, setOpen] = useState<boolean>(false);
  const toggle = () => setOpen(!open);
  return (
    <Panel title="Items">
      {items.map((i) => <Button key={i.id} onClick={() => onPick?.(i)} />)}
    </Panel>
  );
};

export default function App(): JSX.Element {
  return <List items={load()} />;
}

class Legacy extends React.Component<Props> {
  render() { return <ui.Panel />; }
}

/** The most that is shown at once. */
export const MAX_ITEMS = 20;

abstract class View {
  /** Draws what it shows. */
  draw(): JSX.Element { return <ui.Grid><ui.Cell span={MAX_ITEMS} /></ui.Grid>; }
}
