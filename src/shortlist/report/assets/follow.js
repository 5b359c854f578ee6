// A page that is served asks its own server every other second whether there is news, and loads it anew if so.
async function follow() {
  try {
    const answer = await fetch("state", { cache: "no-store" });
    if (answer.ok && (await answer.text()) !== document.documentElement.dataset.state) {
      location.reload();
      return;
    }
  } catch {
    // the server has been stopped; what was last seen stays
  }
  setTimeout(follow, 2000);
}

follow();
