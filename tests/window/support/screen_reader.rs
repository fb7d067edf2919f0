//! The page as a screen reader gets it: through the accessibility bus (AT-SPI), which the app and its web view join.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use zbus::names::OwnedBusName;
use zbus::proxy::CacheProperties;
use zbus::zvariant::OwnedObjectPath;
use zbus::{Connection, Proxy};

use super::{LOOK_EVERY, Rig, WAIT};

const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
const TEXT: &str = "org.a11y.atspi.Text";
/// Number of the state of what has the focus.
const FOCUSED: u32 = 12;
/// How deep below the window anything may stand.
const DEPTH_MAX: usize = 40;
/// How long one question may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// A listener on the accessibility bus.
pub struct ScreenReader {
    bus: Connection,
}

/// Where something stands in the tree: whom to ask about it, and its path there.
#[derive(Debug, Clone)]
struct Place {
    owner: OwnedBusName,
    path: OwnedObjectPath,
}

/// The same on the bus.
type PlaceOnBus = (OwnedBusName, OwnedObjectPath);

impl From<PlaceOnBus> for Place {
    fn from((owner, path): PlaceOnBus) -> Self {
        Self { owner, path }
    }
}

/// Something that a screen reader can come to.
#[derive(Debug, Clone)]
pub struct Spoken {
    place: Place,
    /// The role that it has in the page: `button`, `heading`, `article`.
    pub role: String,
    /// Its name, or the text in it where it has none.
    pub name: String,
    /// How deep it stands below the window.
    pub depth: usize,
}

impl ScreenReader {
    /// Joins the accessibility bus of a rig that was started for it.
    pub async fn join(rig: &Rig) -> Self {
        let session = zbus::connection::Builder::address(rig.bus_address())
            .unwrap()
            .build()
            .await
            .unwrap();
        let bus = Proxy::new(&session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus")
            .await
            .unwrap();
        let address: String = bus
            .call("GetAddress", &())
            .await
            .expect("the package at-spi2-core brings the accessibility bus");
        let bus = zbus::connection::Builder::address(address.as_str())
            .unwrap()
            .method_timeout(ANSWER_WITHIN)
            .build()
            .await
            .unwrap();
        Self { bus }
    }

    /// Everything in the page, in the order of reading.
    pub async fn read(&self) -> Vec<Spoken> {
        let root = Place {
            owner: "org.a11y.atspi.Registry".try_into().unwrap(),
            path: "/org/a11y/atspi/accessible/root".try_into().unwrap(),
        };
        let mut spoken = Vec::new();
        let mut open = vec![(root, 0)];
        while let Some((place, depth)) = open.pop() {
            // What goes while it is asked about is not there any more.
            let Ok(one) = self.ask(&place, depth).await else {
                continue;
            };
            let children = self.children(&place).await.unwrap_or_default();
            spoken.push(one);
            if depth < DEPTH_MAX {
                open.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
            }
        }
        spoken
    }

    /// The first thing of a role whose name has `words`, once it is there.
    pub async fn find(&self, role: &str, words: &str) -> Spoken {
        let deadline = Instant::now() + WAIT;
        loop {
            let all = self.read().await;
            let fits = |one: &&Spoken| one.role == role && one.name.contains(words);
            if let Some(found) = all.iter().find(fits) {
                return found.clone();
            }
            assert!(
                Instant::now() < deadline,
                "no {role} “{words}” is told of:\n{}",
                describe(&all)
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// What has the focus, if anything. What stands around it on the way down says so as well.
    pub async fn focused(&self) -> Option<Spoken> {
        let mut innermost = None;
        for one in self.read().await {
            let states = self.call(&one.place, "GetState", &()).await;
            let states: Vec<u32> = states.unwrap_or_default();
            if states.first().is_some_and(|low| low & (1 << FOCUSED) != 0) {
                innermost = Some(one);
            }
        }
        innermost
    }

    /// Presses something, as a screen reader does it.
    pub async fn press(&self, one: &Spoken) {
        let action = self
            .proxy(&one.place, "org.a11y.atspi.Action")
            .await
            .unwrap();
        let pressed: bool = action.call("DoAction", &(0_i32,)).await.unwrap();
        assert!(pressed, "{one:?} cannot be pressed");
    }

    async fn ask(&self, place: &Place, depth: usize) -> zbus::Result<Spoken> {
        let attributes: HashMap<String, String> = self.call(place, "GetAttributes", &()).await?;
        // The window's own widgets have no role of a page.
        let role = match attributes.get("computed-role") {
            Some(role) => role.clone(),
            None => self.call(place, "GetLocalizedRoleName", &()).await?,
        };
        let proxy = self.proxy(place, ACCESSIBLE).await?;
        let name: String = proxy.get_property("Name").await.unwrap_or_default();
        let name = match name.is_empty() {
            true => self.text(place).await.unwrap_or_default(),
            false => name,
        };
        Ok(Spoken {
            place: place.clone(),
            role,
            name,
            depth,
        })
    }

    async fn text(&self, place: &Place) -> zbus::Result<String> {
        let interfaces: Vec<String> = self.call(place, "GetInterfaces", &()).await?;
        if !interfaces.iter().any(|interface| interface == TEXT) {
            return Ok(String::new());
        }
        let proxy = self.proxy(place, TEXT).await?;
        let text: String = proxy.call("GetText", &(0_i32, -1_i32)).await?;
        // What stands in the text by itself is told of by itself.
        Ok(text.replace('\u{fffc}', "").trim().to_owned())
    }

    /// Returns what stands in a place. A web view lists no children, and names its page only to who asks for the first child.
    async fn children(&self, place: &Place) -> zbus::Result<Vec<Place>> {
        let listed: Vec<PlaceOnBus> = self.call(place, "GetChildren", &()).await?;
        let proxy = self.proxy(place, ACCESSIBLE).await?;
        if !listed.is_empty() || proxy.get_property::<i32>("ChildCount").await? == 0 {
            return Ok(listed.into_iter().map(Place::from).collect());
        }
        let page: PlaceOnBus = self.call(place, "GetChildAtIndex", &0_i32).await?;
        Ok(vec![page.into()])
    }

    async fn call<A, T>(&self, place: &Place, method: &str, arguments: &A) -> zbus::Result<T>
    where
        A: serde::Serialize + zbus::zvariant::DynamicType,
        T: for<'d> serde::Deserialize<'d> + zbus::zvariant::Type,
    {
        self.proxy(place, ACCESSIBLE)
            .await?
            .call(method, arguments)
            .await
    }

    async fn proxy(&self, place: &Place, interface: &'static str) -> zbus::Result<Proxy<'_>> {
        zbus::proxy::Builder::new(&self.bus)
            .destination(place.owner.clone())?
            .path(place.path.clone())?
            .interface(interface)?
            // Not everything on this bus tells all its properties at once.
            .cache_properties(CacheProperties::No)
            .build()
            .await
    }
}

/// What was read, a line each.
fn describe(all: &[Spoken]) -> String {
    all.iter()
        .map(|one| format!("{}{}: {}\n", "  ".repeat(one.depth), one.role, one.name))
        .collect()
}
