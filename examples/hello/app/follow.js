// Reloads the page as soon as another commit is running, so that an open tab follows the path.
const shown = document.querySelector(".commit code").textContent;

async function follow() {
  try {
    const answer = await fetch("commit.txt", { cache: "no-store" });
    const running = (await answer.text()).trim();
    if (answer.ok && running !== shown) location.reload();
  } catch {
    // The site is being replaced; the next look finds the new one.
  }
}

setInterval(follow, 1000);
